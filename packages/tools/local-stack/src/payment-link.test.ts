import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createPaymentLink } from './payment-link.ts';
import { DEMO_ORDER } from './sample-orders.ts';

let server: Server;
let answer: { status: number; body: unknown };
const requests: { path: string | undefined; key: unknown; body: unknown }[] = [];

beforeAll(async () => {
  server = createServer(async (request: IncomingMessage, response) => {
    requests.push({ path: request.url, key: request.headers['x-api-key'], body: await json(request) });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => void server.close());

const link = () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createPaymentLink({ baseUrl, apiKey: 'ak_sandbox_1' });
};

test('creates an order and returns the page on which it is paid', async () => {
  const instructions = [{ rail: 'crypto_deposit' }, { rail: 'gateway_pay', payment_url: 'http://127.0.0.1/pay/1' }];
  answer = { status: 201, body: { deposit_instructions: instructions } };
  expect(await link()).toBe('http://127.0.0.1/pay/1');
  expect(requests).toEqual([{ path: '/v1/orders', key: 'ak_sandbox_1', body: DEMO_ORDER }]);
});

test.each([
  ['is refused', { status: 503, body: { code: 'rate_unavailable' } }],
  ['has no page yet', { status: 201, body: { deposit_instructions: [] } }],
])('has no link when the order %s', async (_, given) => {
  answer = given;
  expect(await link()).toBeNull();
});
