import { newUlid } from '@cpg/platform';
import { deleteExpiredRequests } from './stored-requests.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { refundResponse } from '../../testing/jest-resources.ts';
import type { TestResponse } from '../../testing/jest-send.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;
const clock = { isPaused: false };

beforeAll(async () => {
  gateway = await startGateway({ endsBy: () => (clock.isPaused ? new Date(0) : new Date()) });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  gateway.payments.calls.length = 0;
  gateway.payments.respond = refundResponse;
});

const PAYMENT = `pay_${newUlid()}`;
const refund = (key: string, more = {}, from = shop) =>
  from.send('POST', `/v1/payments/${PAYMENT}/refund`, { amount: '1', ...more }, { 'idempotency-key': key });
const refundIds = () => gateway.payments.calls.map(({ body }) => (body as { refund_id: string }).refund_id);
const idOf = ({ headers }: TestResponse) => String(headers.location).replace('/v1/refunds/', '');

test('a repeat returns the stored response and has no second effect', async () => {
  const first = await refund('k1');
  const again = await refund('k1');
  expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(again.headers).toMatchObject({
    'idempotency-replayed': 'true',
    'content-type': 'application/json; charset=utf-8',
  });
  expect(refundIds()).toEqual([idOf(first)]);
  expect(idOf(again)).toBe(idOf(first));
});

test('the order of fields in the body does not matter', async () => {
  const send = (body: object) => shop.send('POST', `/v1/payments/${PAYMENT}/refund`, body, { 'idempotency-key': 'k1' });
  expect((await send({ amount: '1', reason: 'a' })).status).toBe(201);
  expect((await send({ reason: 'a', amount: '1' })).headers['idempotency-replayed']).toBe('true');
});

test('the same key with another body or path is 422', async () => {
  await refund('k1');
  const other = await refund('k1', { amount: '2' });
  expect({ status: other.status, code: other.body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
  const path = await shop.send('POST', `/v1/orders/ord_${newUlid()}/cancel`, undefined, { 'idempotency-key': 'k1' });
  expect(path.status).toBe(422);
});

test('two merchants can use the same key', async () => {
  const other = await gateway.merchant();
  const [mine, theirs] = [await refund('k1'), await refund('k1', {}, other)];
  expect(theirs.status).toBe(201);
  expect(idOf(theirs)).not.toBe(idOf(mine));
});

test('a final error is stored, a retryable one is not', async () => {
  gateway.payments.respond = () => errorResponse(409, 'concurrent_update');
  expect((await refund('k1')).body.code).toBe('concurrent_update');
  gateway.payments.respond = () => errorResponse(409, 'refund_too_large');
  const refused = await refund('k1');
  gateway.payments.respond = refundResponse;
  const again = await refund('k1');
  expect({ status: again.status, text: again.text }).toEqual({ status: 409, text: refused.text });
  expect(again.headers['idempotency-replayed']).toBe('true');
});

test('an expired key can be used again, and expired keys are deleted', async () => {
  const first = await refund('k1');
  await refund('k2');
  await gateway.pool.query(
    `update gateway.idempotency_keys set expires_at = now() - interval '1 second' where key in ('k1', 'k2') and merchant_id = $1`,
    [shop.id],
  );
  const later = await refund('k1', { amount: '2' });
  expect(later.status).toBe(201);
  expect(idOf(later)).not.toBe(idOf(first));
  expect(await deleteExpiredRequests(gateway.pool, new Date())).toBe(1);
  expect((await refund('k1', { amount: '2' })).text).toBe(later.text);
});

test('while the clock is not trusted, no key expires and none is deleted', async () => {
  const first = await refund('k1');
  await gateway.pool.query("update gateway.idempotency_keys set expires_at = now() - interval '1 second'");
  clock.isPaused = true;
  expect(idOf(await refund('k1'))).toBe(idOf(first));
  expect(await deleteExpiredRequests(gateway.pool, new Date(0))).toBe(0);
  clock.isPaused = false;
  expect(idOf(await refund('k1'))).not.toBe(idOf(first));
});

test('a lease that a clock 40 days ahead took, of a gateway that crashed, ends', async () => {
  await refund('k1');
  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, instance = null, holder = 'crashed',
       leased_until = now() + interval '40 days', expires_at = now() + interval '41 days'`,
  );
  expect((await refund('k1')).status).toBe(201);
});

test.each([
  ['', 400],
  ['a b', 400],
  ['clé', 400],
  ['x'.repeat(256), 400],
  ['x'.repeat(255), 201],
  ['!~', 201],
])('the key %j returns %i', async (key, status) => {
  const response = await refund(key);
  expect(response.status).toBe(status);
  if (status === 400) expect(response.body.details[0].path).toBe('idempotency-key');
});

test('an invalid request does not use its key', async () => {
  expect((await refund('k1', { amount: 'much' })).status).toBe(400);
  expect((await refund('k1')).status).toBe(201);
});

test('without the header nothing is stored and every request is new', async () => {
  const before = await gateway.pool.query('select count(*)::int as n from gateway.idempotency_keys');
  const [a, b] = [
    await shop.send('POST', `/v1/payments/${PAYMENT}/refund`),
    await shop.send('POST', `/v1/payments/${PAYMENT}/refund`),
  ];
  expect(idOf(a)).not.toBe(idOf(b));
  expect((await gateway.pool.query('select count(*)::int as n from gateway.idempotency_keys')).rows).toEqual(
    before.rows,
  );
});
