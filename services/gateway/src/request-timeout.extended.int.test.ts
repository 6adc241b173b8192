import { startGateway, type TestGateway, type TestMerchant } from './testing/jest-gateway.ts';
import { newUlid } from '@cpg/platform';
import { refundResponse } from './testing/jest-resources.ts';
import type { TestResponse } from './testing/jest-send.ts';

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway({ answerWithinMs: 1_000 });
});
beforeEach(async () => {
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const PAYMENT = `pay_${newUlid()}`;
const refund = () => shop.send('POST', `/v1/payments/${PAYMENT}/refund`, undefined, { 'idempotency-key': 'k' });

/** Retries until the key is released, which happens just after the 503. */
const refundAfterRelease = async (): Promise<TestResponse> => {
  for (;;) {
    const response = await refund();
    if (response.status !== 409) return response;
  }
};

const TIMED_OUT = { status: 503, body: { code: 'outcome_unknown' }, headers: { 'retry-after': '1' } };

test('a service that does not respond is 503, and a repeat runs at once', async () => {
  let unblock = () => {};
  const blocked = new Promise<void>((done) => (unblock = done));
  gateway.payments.respond = (call) => blocked.then(() => refundResponse(call));
  expect(await refund()).toMatchObject(TIMED_OUT);
  gateway.payments.respond = refundResponse;
  const again = await refundAfterRelease();
  unblock();
  expect(again.status).toBe(201);
  const ids = gateway.payments.calls.map(({ body }) => (body as { refund_id: string }).refund_id);
  expect(ids.map((id) => `/v1/refunds/${id}`)).toEqual([again.headers.location, again.headers.location]);
});

test('a database that does not respond is 503, and a key claimed after the timeout is released', async () => {
  const locker = await gateway.pool.connect();
  await locker.query('begin');
  await locker.query('lock table gateway.idempotency_keys in exclusive mode');
  expect(await refund()).toMatchObject(TIMED_OUT);
  await locker.query('commit');
  locker.release();
  expect((await refundAfterRelease()).status).toBe(201);
});
