import { createStartGate } from '@cpg/platform';
import { startGateway, type TestGateway } from './testing/jest-gateway.ts';
import { send } from './testing/jest-send.ts';

let gateway: TestGateway;
const gate = createStartGate(10);

beforeAll(async () => {
  gateway = await startGateway({ gate });
});
afterAll(() => gateway.close());

test('no data is served before the gateway knows that the database belongs to its environment', async () => {
  const shop = await gateway.merchant();
  const requests = [
    () => shop.send('GET', '/v1/orders'),
    () => shop.send('GET', '/v1/merchants/me'),
    () => send(gateway.app, 'POST', '/debug/register-payment', {}),
    () => send(gateway.app, 'POST', '/debug/test-webhook', {}),
  ];
  for (const request of requests) {
    const { status, body, headers } = await request();
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'dependency_unavailable', '1']);
  }
  expect((await send(gateway.app, 'GET', '/health')).status).toBe(200);
  gate.open();
  for (const request of requests) expect((await request()).status).not.toBe(503);
});
