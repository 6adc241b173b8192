import {
  type Answer,
  orderBody,
  ordersAnswer,
  startGateway,
  type TestGateway,
  type TestMerchant,
} from './testing/jest-gateway.ts';

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

/** Sends the request until its key is free: it is a moment after the answer. */
const freed = async (): Promise<Answer> => {
  for (;;) {
    const answer = await create();
    if (answer.status !== 409) return answer;
  }
};

const LATE = { status: 503, body: { code: 'dependency_unavailable' }, headers: { 'retry-after': '1' } };

test('a service that never answers is 503 in the end, and a repeat takes the request up at once', async () => {
  let thaw = () => {};
  const frozen = new Promise<void>((done) => (thaw = done));
  gateway.orders.answer = (call) => frozen.then(() => ordersAnswer(call));
  expect(await create()).toMatchObject(LATE);
  gateway.orders.answer = ordersAnswer;
  const again = await freed();
  thaw();
  expect(again.status).toBe(201);
  const made = gateway.orders.calls.map(({ body }) => (body as { order_id: string }).order_id);
  expect(made).toEqual([again.body.id, again.body.id]);
});

test('a database that never answers is 503 in the end, and a key that it gives too late is free', async () => {
  const holder = await gateway.pool.connect();
  await holder.query('begin');
  await holder.query('lock table gateway.idempotency_keys in exclusive mode');
  expect(await create()).toMatchObject(LATE);
  await holder.query('commit');
  holder.release();
  expect((await freed()).status).toBe(201);
});
