import { newUlid, secretBox } from '@cpg/runtime';
import type { Pool } from '@cpg/postgres';
import type { FastifyRequest } from 'fastify';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { orderBody, ordersResponse } from '../testing/jest-resources.ts';
import { orderIdOfKey } from './idempotency-key.ts';
import { orderKeys } from './order-keys.ts';
import { requestFingerprint } from './request-fingerprint.ts';

// Keys of creates that the version before stored in the table.
let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
  await store('{}', { key: 'of another request' });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  gateway.orders.calls.length = 0;
  gateway.orders.respond = ordersResponse;
});

const create = (key: string, body: object = orderBody()) =>
  shop.send('POST', '/v1/orders', body, { 'idempotency-key': key });
const callOf = (index: number) => gateway.orders.calls.at(index)!.body as { order_id: string };

const SEED = newUlid();
const ORDER = `ord_${SEED}`;
const FINGERPRINT = requestFingerprint({ method: 'POST', url: '/v1/orders', body: orderBody() });
const store = async (
  answer: string | null,
  more: { expired?: boolean; resource?: string | null; key?: string; requestHash?: string } = {},
) => {
  const { resource = ORDER, key = 'k1', requestHash = FINGERPRINT } = more;
  await gateway.pool.query(
    `insert into gateway.idempotency_keys (merchant_id, key, request_hash, seed, leased_until, expires_at, resource_id, status, answer)
     values ($1, $8, $2, $3, now(), now() + $4::interval, $5, $6, $7)`,
    [
      shop.id,
      requestHash,
      SEED,
      more.expired ? '-1 second' : '1 hour',
      resource,
      answer === null ? null : 201,
      answer,
      key,
    ],
  );
};

test.each([ORDER, null])('answers a repeat, with the resource %s', async (resource) => {
  await store('{"id":"stored"}', { resource });
  const again = await create('k1');
  expect(again).toMatchObject({ status: 201, text: '{"id":"stored"}' });
  expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true', location: `/v1/orders/${ORDER}` });
  expect((await create('k1', orderBody({ external_reference_id: 'other' }))).status).toBe(422);
  expect(gateway.orders.calls).toEqual([]);
});

test('names the order of a request that was interrupted', async () => {
  await store(null);
  expect((await create('k1')).status).toBe(201);
  expect(callOf(0)).toMatchObject({ order_id: ORDER });
  expect(callOf(0)).not.toHaveProperty('request_hash');
  expect((await create('k1', orderBody({ external_reference_id: 'other' }))).status).toBe(422);
});

test('does not show a deleted order', async () => {
  await store(JSON.stringify({ id: ORDER }), { resource: null });
  await gateway.pool.query(
    'insert into orders.orders (id, merchant_id, revision, deleted) values ($1, $2, 1, true) on conflict do nothing',
    [ORDER, shop.id],
  );
  expect(await create('k1')).toMatchObject({ status: 410, body: { code: 'order_deleted' } });
  await gateway.pool.query('update gateway.idempotency_keys set status = 410, answer = null, resource_id = $1', [
    ORDER,
  ]);
  expect(await create('k1')).toMatchObject({ status: 410 });
});

test('is forgotten after it expired', async () => {
  await store(null, { expired: true });
  await create('k1');
  expect(callOf(0).order_id).toBe(orderIdOfKey(shop.id, 'k1'));
});

test('are looked up only while there are any', async () => {
  await gateway.pool.query('delete from gateway.idempotency_keys');
  const queries: unknown[] = [];
  const pool = {
    query: (...query: unknown[]) => {
      queries.push(query);
      return gateway.pool.query(...(query as [string]));
    },
  } as unknown as Pool;
  let nowMs = 0;
  const keyOf = orderKeys({ pool, box: secretBox(['x'.repeat(32)]), nowMs: () => nowMs });
  const headers = { 'idempotency-key': 'k1' };
  const request = { method: 'POST', url: '/v1/orders', headers, body: {}, caller: { merchantId: shop.id } };
  const queriesOfCreate = async () => {
    queries.length = 0;
    const { orderId } = await keyOf(request as unknown as FastifyRequest);
    return [orderId === orderIdOfKey(shop.id, 'k1'), queries.length];
  };
  expect(await queriesOfCreate()).toEqual([true, 1]);
  expect(await queriesOfCreate()).toEqual([true, 0]);
  // Another gateway, of the version before, may still run.
  await store(null, { requestHash: requestFingerprint({ ...request, body: {} }) });
  nowMs += 10_000;
  expect(await queriesOfCreate()).toEqual([false, 2]);
  expect(await queriesOfCreate()).toEqual([false, 1]);
});
