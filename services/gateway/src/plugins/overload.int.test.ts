import { createConcurrencyLimit } from '@cpg/runtime';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { orderBody, ordersResponse } from '../testing/jest-resources.ts';
import { errorResponse } from '../testing/jest-stub-service.ts';

const LIMIT = 4;
let gateway: TestGateway;
let busy: TestMerchant;
let other: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway({
    loadLimits: { create: createConcurrencyLimit({ initial: LIMIT, min: LIMIT, max: LIMIT }) },
  });
  [busy, other] = [await gateway.merchant(), await gateway.merchant()];
  // A key has a share of its own once it was verified.
  for (const shop of [busy, other]) await shop.send('GET', '/v1/merchants/me');
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.orders.calls.length = 0;
  gateway.orders.respond = ordersResponse;
});

const create = (shop: TestMerchant, key?: string) =>
  shop.send('POST', '/v1/orders', orderBody(), key === undefined ? {} : { 'idempotency-key': key });

/** Lets orders answer no create before `finish`. */
const holdOrders = () => {
  let finish = () => {};
  const finished = new Promise<void>((done) => {
    finish = done;
  });
  gateway.orders.respond = async (call) => {
    await finished;
    return ordersResponse(call);
  };
  return finish;
};

const holdCreates = async (shop: TestMerchant) => {
  const finish = holdOrders();
  const held = Array.from({ length: LIMIT }, () => create(shop));
  while (gateway.orders.calls.length < LIMIT) await new Promise(setImmediate);
  return async () => {
    finish();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(LIMIT).fill(201));
  };
};

test('a full gateway refuses creates, and answers health, reads and other commands', async () => {
  const finish = await holdCreates(busy);
  const refused = await create(busy, 'k1');
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded', request_id: expect.any(String) } });
  expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-request-id': refused.body.request_id });
  const answers = await Promise.all([
    gateway.app.inject('/health'),
    gateway.app.inject('/health/ready'),
    gateway.app.inject({ url: '/v1/orders', headers: { 'x-api-key': busy.key } }),
  ]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(gateway.orders.calls).toHaveLength(LIMIT);
  await finish();
});

test('a merchant that fills the gateway leaves the others their share', async () => {
  const finish = await holdCreates(busy);
  const theirs = create(other);
  while (gateway.orders.calls.length < LIMIT + 1) await new Promise(setImmediate);
  expect((await create(busy)).status).toBe(503);
  await finish();
  expect((await theirs).status).toBe(201);
});

test('requests with keys that were never verified share one part', async () => {
  const finish = await holdCreates(busy);
  const strangers = Array.from({ length: 2 * LIMIT }, (_, n) =>
    gateway.app.inject({ method: 'POST', url: '/v1/orders', headers: { 'x-api-key': `stranger-${n}` } }),
  );
  const statuses = (await Promise.all(strangers)).map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 401)).toHaveLength(LIMIT / 2);
  expect(statuses.filter((status) => status === 503)).toHaveLength(LIMIT + LIMIT / 2);
  await finish();
});

test('a refused request does not hold its Idempotency-Key, whichever service refused it', async () => {
  const finish = await holdCreates(busy);
  expect((await create(busy, 'k2')).status).toBe(503);
  await finish();
  gateway.orders.respond = () => errorResponse(503, 'overloaded');
  const refused = await create(busy, 'k2');
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  expect(refused.headers['retry-after']).toBe('1');
  gateway.orders.respond = ordersResponse;
  expect((await create(busy, 'k2')).status).toBe(201);
});

test('a call to orders carries the time that is left for the response', async () => {
  await create(busy);
  const waitsMs = Number(gateway.orders.calls[0]!.headers['x-deadline-ms']);
  expect(waitsMs).toBeGreaterThan(0);
  expect(waitsMs).toBeLessThanOrEqual(10_000);
});
