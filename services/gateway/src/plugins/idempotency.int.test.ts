import { newUlid } from '@cpg/runtime';
import { deleteExpiredRequests } from '../queries/idempotency.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { orderBody, ordersResponse } from '../testing/jest-resources.ts';
import { errorResponse } from '../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  gateway.orders.calls.length = 0;
  gateway.orders.respond = ordersResponse;
});

const create = (key: string, more = {}, from = shop) =>
  from.send('POST', '/v1/orders', orderBody(more), { 'idempotency-key': key });
const createdOrderIds = () => gateway.orders.calls.map(({ body }) => (body as { order_id: string }).order_id);

test('a repeat returns the stored response and has no second effect', async () => {
  const first = await create('k1');
  const again = await create('k1');
  expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(again.headers).toMatchObject({
    'idempotency-replayed': 'true',
    'content-type': 'application/json; charset=utf-8',
  });
  const location = `/v1/orders/${first.body.id}`;
  expect([first.headers.location, again.headers.location]).toEqual([location, location]);
  expect(createdOrderIds()).toEqual([first.body.id]);
});

test('the order of fields in the body does not matter', async () => {
  const first = await create('k1');
  const reversed = Object.fromEntries(Object.entries(orderBody()).reverse());
  expect((await shop.send('POST', '/v1/orders', reversed, { 'idempotency-key': 'k1' })).text).toBe(first.text);
});

test('the same key with another body or path is 422', async () => {
  await create('k1');
  const other = await create('k1', { external_reference_id: 'another' });
  expect({ status: other.status, code: other.body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
  const path = await shop.send('POST', `/v1/orders/ord_${newUlid()}/cancel`, undefined, { 'idempotency-key': 'k1' });
  expect(path.status).toBe(422);
});

test('two merchants can use the same key', async () => {
  const other = await gateway.merchant();
  const [mine, theirs] = [await create('k1'), await create('k1', {}, other)];
  expect(theirs.status).toBe(201);
  expect(theirs.body.id).not.toBe(mine.body.id);
});

test('a final error is stored, a retryable one is not', async () => {
  const cancel = () => shop.send('POST', `/v1/orders/${id}/cancel`, undefined, { 'idempotency-key': 'k1' });
  const id = `ord_${newUlid()}`;
  gateway.orders.respond = () => errorResponse(409, 'concurrent_update');
  expect((await cancel()).body.code).toBe('concurrent_update');
  gateway.orders.respond = () => errorResponse(409, 'cancel_not_allowed');
  const refused = await cancel();
  gateway.orders.respond = ordersResponse;
  const again = await cancel();
  expect({ status: again.status, text: again.text }).toEqual({ status: 409, text: refused.text });
  expect(again.headers['idempotency-replayed']).toBe('true');
});

test('an expired key can be used again, and expired keys are deleted', async () => {
  const first = await create('k1');
  await create('k2');
  await gateway.pool.query(
    `update gateway.idempotency_keys set expires_at = now() - interval '1 second' where key in ('k1', 'k2') and merchant_id = $1`,
    [shop.id],
  );
  const later = await create('k1', { external_reference_id: 'another' });
  expect(later.status).toBe(201);
  expect(later.body.id).not.toBe(first.body.id);
  expect(await deleteExpiredRequests(gateway.pool)).toBe(1);
  expect((await create('k1', { external_reference_id: 'another' })).text).toBe(later.text);
});

test.each([
  ['', 400],
  ['a b', 400],
  ['clé', 400],
  ['x'.repeat(256), 400],
  ['x'.repeat(255), 201],
  ['!~', 201],
])('the key %j returns %i', async (key, status) => {
  const response = await create(key);
  expect(response.status).toBe(status);
  if (status === 400) expect(response.body.details[0].path).toBe('idempotency-key');
});

test('an invalid request does not use its key', async () => {
  expect((await create('k1', { items: [] })).status).toBe(400);
  expect((await create('k1')).status).toBe(201);
});

test('without the header nothing is stored and every request is new', async () => {
  const before = await gateway.pool.query('select count(*)::int as n from gateway.idempotency_keys');
  const [a, b] = [
    await shop.send('POST', '/v1/orders', orderBody()),
    await shop.send('POST', '/v1/orders', orderBody()),
  ];
  expect(a.body.id).not.toBe(b.body.id);
  expect((await gateway.pool.query('select count(*)::int as n from gateway.idempotency_keys')).rows).toEqual(
    before.rows,
  );
});
