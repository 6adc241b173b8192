import { type Proxy, startProxy } from './testing/jest-proxy.ts';
import { METRICS_TOKEN, startGateway, type TestGateway, type TestMerchant } from './testing/jest-gateway.ts';
import { newUlid } from '@cpg/platform';
import { orderBody, refundResponse } from './testing/jest-resources.ts';

let proxy: Proxy;
let gateway: TestGateway;
let shop: TestMerchant;

beforeEach(async () => {
  gateway = await startGateway({
    databaseProxy: async (url) => {
      proxy = await startProxy(url);
      return proxy.url;
    },
  });
  shop = await gateway.merchant();
  await shop.send('GET', '/v1/orders');
});
afterEach(async () => {
  await gateway.close();
  await proxy.disconnect();
});

const UNAVAILABLE = { statusCode: 503, error: 'Service Unavailable', code: 'dependency_unavailable' };

test('an unavailable service is 503 with Retry-After', async () => {
  await gateway.orders.close();
  const { body, headers } = await shop.send('POST', '/v1/orders', orderBody());
  expect(body).toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining('orders is temporarily unavailable') });
  expect(headers['retry-after']).toBe('1');
});

test('a missing read model is 503', async () => {
  await gateway.pool.query('drop table payments.payments cascade');
  expect((await shop.send('GET', '/v1/payments')).body).toMatchObject(UNAVAILABLE);
});

test('an unavailable database is 503, and readiness names it', async () => {
  await proxy.disconnect();
  const answers = [
    await shop.send('GET', '/v1/orders'),
    await shop.send('GET', '/v1/merchants/me'),
    await shop.send('POST', `/v1/orders/ord_${newUlid()}/cancel`, undefined, { 'idempotency-key': 'k' }),
    await shop.send('GET', '/v1/orders', undefined, {
      'x-api-key': shop.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    }),
  ];
  const ready = await shop.send('GET', '/health/ready');
  for (const { body, headers } of answers) {
    expect(body).toMatchObject(UNAVAILABLE);
    expect(headers['retry-after']).toBe('1');
  }
  expect({ status: ready.status, missing: ready.body.missing }).toEqual({ status: 503, missing: ['postgres'] });
  expect((await shop.send('GET', '/health')).status).toBe(200);
});

test('orders are created without the database, by keys that were used lately', async () => {
  await proxy.disconnect();
  const { status } = await shop.send('POST', '/v1/orders', orderBody(), { 'idempotency-key': 'k' });
  expect(status).toBe(201);
});

test('metrics need their own token, and count outages and refused requests', async () => {
  const metrics = (headers: Record<string, string>) => gateway.app.inject({ url: '/metrics', headers });
  await proxy.disconnect();
  expect((await shop.send('GET', '/v1/orders')).status).toBe(503);
  const refused: Record<string, string>[] = [{}, { 'x-api-key': shop.key }, { authorization: `Bearer ${shop.key}` }];
  for (const headers of refused) {
    expect(await metrics(headers)).toMatchObject({ statusCode: 401, body: expect.not.stringContaining('outages') });
  }
  const { statusCode, body } = await metrics({ authorization: `Bearer ${METRICS_TOKEN}` });
  expect(statusCode).toBe(200);
  expect(body).toMatch(/^outages_total\{dependency="postgres"\} 1$/m);
  expect(body).toMatch(/^refused_requests_total\{dependency="postgres"\} 1$/m);
  expect(body).toMatch(/^dependency_up\{dependency="postgres"\} 0$/m);
});

test('recovers when the database is available again', async () => {
  await proxy.disconnect();
  expect((await shop.send('GET', '/v1/orders')).status).toBe(503);
  await proxy.reconnect();
  expect((await shop.send('GET', '/v1/orders')).status).toBe(200);
});

test('returns a response that cannot be stored, and a repeat has the same result', async () => {
  await gateway.pool.query(`
    create function gateway.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'going down' using errcode = '57P01'; end $$;
    create trigger refuse before update of answer on gateway.idempotency_keys for each row execute function gateway.refuse()`);
  gateway.payments.respond = refundResponse;
  const path = `/v1/payments/pay_${newUlid()}/refund`;
  const refund = () => shop.send('POST', path, undefined, { 'idempotency-key': 'k' });
  const first = await refund();
  expect(first.status).toBe(201);
  await gateway.pool.query('drop trigger refuse on gateway.idempotency_keys');
  await gateway.pool.query('update gateway.idempotency_keys set leased_until = now()');
  expect((await refund()).headers.location).toBe(first.headers.location);
});
