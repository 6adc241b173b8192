import { newUlid } from '@cpg/platform';
import { deleteRequests, insertRequests, type LoggedRequest } from '../../door/request-log/logged-requests.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { createTestUser, openBrowser } from '../../testing/jest-users.ts';

let gateway: TestGateway;
let shop: TestMerchant;
let keyId: string;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  const { rows } = await gateway.pool.query<{ id: string }>('select id from gateway.api_keys where merchant_id = $1', [
    shop.id,
  ]);
  keyId = rows[0]!.id;
});

type Query = Record<string, string>;
/** The log without its own requests. */
const read = async (query: Query = {}, by = shop) => {
  await gateway.flushRequestLog();
  return by.send('GET', `/v1/requests?${new URLSearchParams(query)}`);
};
const itemsOf = async (query: Query = {}, by = shop) => (await read(query, by)).body.items as Record<string, unknown>[];
const MISSING = `/v1/orders/ord_${newUlid()}`;
const AT = new Date('2026-01-31T12:00:00.000Z');

/** Inserts requests of the shop, a second apart, the last one newest. Returns their ids. */
const insert = async (...requests: Partial<LoggedRequest>[]): Promise<string[]> => {
  const rows = requests.map((request, index): LoggedRequest => ({
    ...{ id: `req_${newUlid()}`, merchant_id: shop.id, api_key_id: keyId, user_id: null, method: 'GET' },
    ...{ path: '/v1/orders', status: 200, code: null, duration_ms: 3, address: '203.0.113.7' },
    created_at: new Date(AT.getTime() + index * 1_000),
    ...request,
  }));
  await insertRequests(gateway.pool, rows);
  return rows.map(({ id }) => id);
};

test('shows a request that was refused, without its query', async () => {
  const { body: error } = await shop.send('GET', `${MISSING}?at=2026-01-31T12:00:00Z`);
  const [request] = await itemsOf();
  expect(request).toEqual({
    id: error.request_id,
    merchant_id: shop.id,
    method: 'GET',
    path: MISSING,
    status: 404,
    code: 'not_found',
    api_key_id: keyId,
    duration_ms: expect.any(Number),
    address: '127.0.0.1',
    created_at: expect.stringMatching(/Z$/),
  });
});

test('shows a request that was answered, with no code', async () => {
  await shop.send('GET', '/v1/merchants/me');
  const [request] = await itemsOf();
  expect(request).toMatchObject({ path: '/v1/merchants/me', status: 200 });
  expect(request).not.toHaveProperty('code');
});

test('a stored refusal that is repeated has its code again', async () => {
  const send = () => shop.send('POST', '/v1/webhooks', { url: 'nothing' }, { 'idempotency-key': 'one' });
  expect((await send()).status).toBe(400);
  expect((await send()).status).toBe(400);
  expect(await itemsOf()).toMatchObject([{ code: 'invalid_request' }, { code: 'invalid_request' }]);
});

test('shows a request that lacks a scope', async () => {
  const weak = await gateway.merchant({ scopes: ['requests:self:read'] });
  await weak.send('GET', '/v1/orders');
  expect(await itemsOf({}, weak)).toMatchObject([{ status: 403, code: 'insufficient_scope' }]);
});

test('shows changes of a user, and no reads', async () => {
  const { id, email } = await createTestUser(gateway, shop.id, 'owner');
  const browser = openBrowser(gateway.app);
  await browser.signIn(email);
  await browser.send('GET', '/v1/orders');
  await browser.send('PATCH', '/v1/merchants/me', { order_defaults: {} });
  const items = await itemsOf();
  expect(items).toMatchObject([{ method: 'PATCH', path: '/v1/merchants/me', user_id: id }]);
  expect(items[0]).not.toHaveProperty('api_key_id');
});

test('a request without a valid key belongs to no merchant', async () => {
  const count = async () => {
    await gateway.flushRequestLog();
    return (await gateway.pool.query('select count(*) from gateway.request_log')).rows;
  };
  const before = await count();
  await gateway.app.inject({ url: '/v1/orders', headers: { 'x-api-key': 'wrong' } });
  expect(await count()).toEqual(before);
});

test('filters by each field, newest first', async () => {
  const [created, refused, limited, failed] = await insert(
    { method: 'POST', status: 201, api_key_id: 'key_01KG9Q0B2C3D4E5F6G7H8J9K0M' },
    { status: 404, code: 'not_found', path: '/v1/orders/ord_1' },
    { status: 429, code: 'rate_limited', path: '/v1/payments' },
    { status: 503, code: 'overloaded', path: '/v1/payments' },
  );
  const idsOf = async (query: Query) => (await itemsOf({ to_date: AT.toISOString(), ...query })).map(({ id }) => id);
  const all = { to_date: new Date(AT.getTime() + 60_000).toISOString() };
  expect(await idsOf(all)).toEqual([failed, limited, refused, created]);
  expect(await idsOf({ ...all, sort: 'asc' })).toEqual([created, refused, limited, failed]);
  expect(await idsOf({ ...all, method: 'POST' })).toEqual([created]);
  expect(await idsOf({ ...all, status: '429' })).toEqual([limited]);
  expect(await idsOf({ ...all, status: '4xx' })).toEqual([limited, refused]);
  expect(await idsOf({ ...all, status: '2xx' })).toEqual([created]);
  expect(await idsOf({ ...all, status: '201' })).toEqual([created]);
  expect(await idsOf({ ...all, code: 'overloaded' })).toEqual([failed]);
  expect(await idsOf({ ...all, api_key_id: 'key_01KG9Q0B2C3D4E5F6G7H8J9K0M' })).toEqual([created]);
  expect(await idsOf({ ...all, request_id: refused! })).toEqual([refused]);
  expect(await idsOf({ ...all, path: '/v1/orders' })).toEqual([refused, created]);
  expect(await idsOf({ ...all, path: '/v1/orders/' })).toEqual([refused]);
  expect(await idsOf({ ...all, path: '%' })).toEqual([]);
  expect(await idsOf({})).toEqual([created]);
  expect(await idsOf({ ...all, from_date: new Date(AT.getTime() + 3_000).toISOString() })).toEqual([failed]);
});

test('goes on by cursor', async () => {
  const [first, second] = await insert({}, {});
  const query = { limit: '1', to_date: new Date(AT.getTime() + 60_000).toISOString() };
  const { items, next_cursor: cursor, total } = (await read(query)).body;
  expect([items[0].id, total]).toEqual([second, 2]);
  expect((await itemsOf({ ...query, cursor })).map(({ id }) => id)).toEqual([first]);
});

test.each([
  ['status', '4x'],
  ['status', '600'],
  ['method', 'BREW'],
  ['api_key_id', 'mine'],
])('refuses %s=%s', async (name, value) => {
  expect((await read({ [name]: value })).status).toBe(400);
});

test('another merchant sees nothing of it, by no filter', async () => {
  const [id] = await insert({ status: 404, code: 'not_found' });
  const other = await gateway.merchant();
  for (const query of [{}, { request_id: id! }, { api_key_id: keyId }, { status: '4xx' }])
    expect(await itemsOf({ ...query, to_date: AT.toISOString() }, other)).toEqual([]);
});

test('deletes what is older, and nothing else', async () => {
  const [old, young] = await insert({}, {});
  expect(await deleteRequests(gateway.pool, new Date(AT.getTime() + 1_000))).toBeGreaterThan(0);
  expect(await itemsOf({ request_id: old! })).toEqual([]);
  expect(await itemsOf({ request_id: young! })).toHaveLength(1);
});

test.each([
  ['admin', 200],
  ['developer', 200],
  ['support', 403],
  ['viewer', 403],
] as const)('%s: %i', async (role, status) => {
  const { email } = await createTestUser(gateway, shop.id, role);
  const browser = openBrowser(gateway.app);
  await browser.signIn(email);
  expect((await browser.send('GET', '/v1/requests')).status).toBe(status);
});
