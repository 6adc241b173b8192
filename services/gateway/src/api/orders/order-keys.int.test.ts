import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderBody, orderOf, ordersResponse, projectOrder } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';
import { orderIdOfKey } from '../../door/idempotency/idempotency-key.ts';

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

const create = (key: string, body: object = orderBody(), from = shop) =>
  from.send('POST', '/v1/orders', body, { 'idempotency-key': key });
const callOf = (index: number) =>
  gateway.orders.calls.at(index)!.body as { order_id: string; request_hash?: string; only_repeat?: boolean };

test('every repeat names the same order and has the same fingerprint, and nothing is stored', async () => {
  const first = await create('k1');
  const reversed = Object.fromEntries(Object.entries(orderBody()).reverse());
  expect((await create('k1', reversed)).body.id).toBe(first.body.id);
  expect(callOf(1)).toMatchObject({ order_id: callOf(0).order_id, request_hash: callOf(0).request_hash });
  expect(callOf(0)).toMatchObject({ order_id: orderIdOfKey(shop.id, 'k1'), request_hash: expect.any(String) });
  const { rowCount } = await gateway.pool.query('select from gateway.idempotency_keys where merchant_id = $1', [
    shop.id,
  ]);
  expect(rowCount).toBe(0);
});

test('another body has another fingerprint; another key or merchant names another order', async () => {
  await create('k1');
  await create('k1', orderBody({ external_reference_id: 'other' }));
  await create('k2');
  await create('k1', orderBody(), await gateway.merchant());
  await create('k1', orderBody({ return_url: 'https://shop.example/thanks' }));
  const calls = [0, 1, 2, 3, 4].map(callOf);
  expect(new Set(calls.map(({ order_id }) => order_id)).size).toBe(3);
  expect(calls[1]).toMatchObject({ order_id: calls[0]!.order_id });
  expect(new Set([0, 1, 4].map((call) => calls[call]!.request_hash)).size).toBe(3);
  expect(calls[4]).toMatchObject({ order_id: calls[0]!.order_id });
});

test('the id that a key names is the same in every version', () => {
  expect(orderIdOfKey('mer_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'checkout-1042')).toBe('ord_7FQAWHKMF2TMGWKXVAHPSGRRXS');
});

test('the answer of orders is passed on as it is', async () => {
  const id = `ord_${newUlid()}`;
  const body = { later: 'field', ...orderOf(id, shop.id) };
  const headers = { location: `/orders/${id}`, 'idempotency-replayed': 'true' };
  gateway.orders.respond = () => ({ status: 201, body, headers });
  const response = await create('k1');
  expect(response.text).toBe(JSON.stringify(body));
  expect(response).toMatchObject({
    status: 201,
    headers: {
      location: `/v1/orders/${id}`,
      'idempotency-replayed': 'true',
      'content-type': 'application/json; charset=utf-8',
    },
  });
});

test('a first create is not marked as replayed, and its location does not need that of orders', async () => {
  const response = await create('k1');
  expect(response.headers['idempotency-replayed']).toBeUndefined();
  expect(response.headers.location).toBe(`/v1/orders/${response.body.id}`);
});

test.each([
  [422, 'idempotency_key_reused'],
  [410, 'order_deleted'],
  [503, 'outcome_unknown'],
])('a %i of orders is passed on, and not stored', async (status, code) => {
  gateway.orders.respond = () => errorResponse(status, code);
  const refused = await create('k1');
  expect(refused).toMatchObject({ status, body: { code } });
  expect(refused.headers.location).toBeUndefined();
  gateway.orders.respond = ordersResponse;
  expect((await create('k1')).status).toBe(201);
});

test('a create without a key has an id of its own and no fingerprint', async () => {
  for (const _ of [1, 2]) await shop.send('POST', '/v1/orders', orderBody());
  expect(callOf(0).order_id).not.toBe(callOf(1).order_id);
  expect(callOf(0)).not.toHaveProperty('request_hash');
});

test('a malformed key is 400', async () => {
  expect((await create('a b')).body.details).toMatchObject([{ path: 'idempotency-key' }]);
  expect(gateway.orders.calls).toEqual([]);
});

test('a repeat gets its order after the merchant gave up the payment method; a new create is refused', async () => {
  await create('k1');
  await gateway.pool.query(`update gateway.merchants set payment_methods = '[]' where id = $1`, [shop.id]);
  const key = await shop.issue({});
  const again = (name: string) =>
    shop.send('POST', '/v1/orders', orderBody(), { 'idempotency-key': name, 'x-api-key': key });
  expect((await again('k1')).status).toBe(201);
  expect(callOf(-1)).toMatchObject({ order_id: callOf(0).order_id, only_repeat: true });
  gateway.orders.respond = () => errorResponse(404, 'not_found');
  expect((await again('k2')).body).toMatchObject({ statusCode: 400, details: [{ path: 'enable_rails.0' }] });
  gateway.orders.respond = () => errorResponse(503, 'dependency_unavailable');
  expect((await again('k2')).status).toBe(503);
});

test('a key that created an order is refused for another request', async () => {
  const { id } = (await create('k1')).body;
  await projectOrder(gateway.pool, orderOf(id, shop.id, { created_at: new Date().toISOString() }));
  const cancel = () => shop.send('POST', `/v1/orders/${id}/cancel`, undefined, { 'idempotency-key': 'k1' });
  expect(await cancel()).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  await gateway.pool.query(`update orders.orders set created_at = now() - interval '25 hours' where id = $1`, [id]);
  expect((await cancel()).status).toBe(201);
});
