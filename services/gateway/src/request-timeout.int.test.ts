import { startGateway, type TestGateway, type TestMerchant } from './testing/jest-gateway.ts';
import { orderBody, ordersResponse } from './testing/jest-resources.ts';
import { type TestResponse } from './testing/jest-send.ts';

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway({ answerWithinMs: 1_000 });
});
beforeEach(async () => {
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const create = () => shop.send('POST', '/v1/orders', orderBody(), { 'idempotency-key': 'k' });

/** Retries until the key is released, which happens just after the 503. */
const createAfterRelease = async (): Promise<TestResponse> => {
  for (;;) {
    const response = await create();
    if (response.status !== 409) return response;
  }
};

const TIMED_OUT = { status: 503, body: { code: 'outcome_unknown' }, headers: { 'retry-after': '1' } };

test('a service that does not respond is 503, and a repeat runs at once', async () => {
  let unblock = () => {};
  const blocked = new Promise<void>((done) => (unblock = done));
  gateway.orders.respond = (call) => blocked.then(() => ordersResponse(call));
  expect(await create()).toMatchObject(TIMED_OUT);
  gateway.orders.respond = ordersResponse;
  const again = await createAfterRelease();
  unblock();
  expect(again.status).toBe(201);
  const orderIds = gateway.orders.calls.map(({ body }) => (body as { order_id: string }).order_id);
  expect(orderIds).toEqual([again.body.id, again.body.id]);
});

test('a database that does not respond is 503, and a key claimed after the timeout is released', async () => {
  const locker = await gateway.pool.connect();
  await locker.query('begin');
  await locker.query('lock table gateway.idempotency_keys in exclusive mode');
  expect(await create()).toMatchObject(TIMED_OUT);
  await locker.query('commit');
  locker.release();
  expect((await createAfterRelease()).status).toBe(201);
});
