import { type Proxy, startProxy } from './testing/jest-proxy.ts';
import { orderBody, startGateway, type TestGateway, type TestMerchant } from './testing/jest-gateway.ts';

let proxy: Proxy;
let gateway: TestGateway;
let shop: TestMerchant;

beforeEach(async () => {
  gateway = await startGateway({
    wayTo: async (url) => {
      proxy = await startProxy(url);
      return proxy.url;
    },
  });
  shop = await gateway.merchant();
  await shop.send('GET', '/v1/orders');
});
afterEach(async () => {
  await gateway.close();
  await proxy.cut();
});

const UNAVAILABLE = { statusCode: 503, error: 'Service Unavailable', code: 'dependency_unavailable' };

test('a service that is away is 503 with Retry-After', async () => {
  await gateway.orders.close();
  const { body, headers } = await shop.send('POST', '/v1/orders', orderBody());
  expect(body).toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining('orders is not available') });
  expect(headers['retry-after']).toBe('1');
});

test('a read model that is not there yet is 503', async () => {
  await gateway.pool.query('drop table payments.payments');
  expect((await shop.send('GET', '/v1/payments')).body).toMatchObject(UNAVAILABLE);
});

test('a database that is away is 503 everywhere, and readiness names it', async () => {
  await proxy.cut();
  const answers = [
    await shop.send('GET', '/v1/orders'),
    await shop.send('GET', '/v1/merchants/me'),
    await shop.send('POST', '/v1/orders', orderBody(), { 'idempotency-key': 'k' }),
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

test('it works again as soon as the database is back', async () => {
  await proxy.cut();
  expect((await shop.send('GET', '/v1/orders')).status).toBe(503);
  await proxy.mend();
  expect((await shop.send('GET', '/v1/orders')).status).toBe(200);
});

test('an answer that cannot be kept is given all the same, and a repeat takes it up', async () => {
  await gateway.pool.query(`
    create function gateway.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'going down' using errcode = '57P01'; end $$;
    create trigger refuse before update of answer on gateway.idempotency_keys for each row execute function gateway.refuse()`);
  const create = () => shop.send('POST', '/v1/orders', orderBody(), { 'idempotency-key': 'k' });
  const first = await create();
  expect(first.status).toBe(201);
  await gateway.pool.query('drop trigger refuse on gateway.idempotency_keys');
  await gateway.pool.query('update gateway.idempotency_keys set leased_until = now()');
  expect((await create()).body.id).toBe(first.body.id);
});
