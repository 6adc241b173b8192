import { Scope } from '../../door/keys/api-key.ts';
import { updateScopeUses } from '../../door/keys/scope-uses.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { send } from '../../testing/jest-send.ts';
import { MAX_ACTIVE_KEYS } from './key-changes.ts';

const HOUR = 3_600_000;
const DAY_SECONDS = 86_400;

let clock: Date;
let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway({ cacheTtlMs: 0, now: () => clock });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  clock = new Date('2026-01-31T12:00:00Z');
  shop = await gateway.merchant();
});

const after = (ms: number): Date => new Date(clock.getTime() + ms);
const create = async (body: object = { scopes: ['orders:self:read'] }, headers = {}) =>
  (await shop.send('POST', '/v1/api-keys', body, headers)).body;
const statusFor = async (key: string, path = '/v1/orders', address = '127.0.0.1') =>
  (await send(gateway.app, 'GET', path, undefined, { 'x-api-key': key, 'x-forwarded-for': address })).status;

test('a new key works, with its scopes and from its addresses alone, and is shown once', async () => {
  const { status, body, headers } = await shop.send('POST', '/v1/api-keys', {
    scopes: ['orders:self:read'],
    label: 'Reports',
    allowed_ips: ['203.0.113.0/24'],
  });
  expect([status, headers.location]).toEqual([201, `/v1/api-keys/${body.id}`]);
  const { key, ...shown } = body;
  expect(shown).toEqual({
    id: expect.stringMatching(/^key_/),
    merchant_id: shop.id,
    label: 'Reports',
    prefix: key.slice(0, 23),
    last4: key.slice(-4),
    environment: 'sandbox',
    scopes: ['orders:self:read'],
    scopes_last_used: [],
    allowed_ips: ['203.0.113.0/24'],
    status: 'active',
    version: 1,
    created_at: clock.toISOString(),
  });
  expect(await statusFor(key, '/v1/orders', '203.0.113.7')).toBe(200);
  expect(await statusFor(key, '/v1/orders', '203.0.114.7')).toBe(401);
  expect(await statusFor(key, '/v1/payments', '203.0.113.7')).toBe(403);
  expect((await shop.send('GET', `/v1/api-keys/${body.id}`)).body).toEqual(shown);
  const { items } = (await shop.send('GET', '/v1/api-keys')).body;
  expect(items).toContainEqual(shown);
  expect(JSON.stringify(items)).not.toContain(key.slice(23));
});

test('a key says on which day it used each of its scopes last', async () => {
  const scopes = ['orders:self:read', 'orders:self:create', 'payments:self:read'];
  const { id, key } = await create({ scopes });
  const shown = async () => {
    await gateway.flushLastUsed();
    const { items } = (await shop.send('GET', '/v1/api-keys')).body;
    const { body } = await shop.send('GET', `/v1/api-keys/${id}`);
    expect(items).toContainEqual(body);
    return body.scopes_last_used;
  };
  expect(await shown()).toEqual([]);
  await statusFor(key, '/v1/orders');
  // A refused request uses no scope.
  await statusFor(key, '/v1/refunds');
  await statusFor(key, '/v1/webhooks');
  expect(await shown()).toEqual([
    { scope: 'orders:self:read', last_used_on: '2026-01-31' },
    { scope: 'payments:self:read', last_used_on: '2026-01-31' },
  ]);
  clock = after(12 * HOUR);
  await statusFor(key, '/v1/orders');
  expect(await shown()).toContainEqual({ scope: 'orders:self:read', last_used_on: '2026-02-01' });
  // An instance that is late takes nothing back.
  await updateScopeUses(gateway.pool, [{ kid: key.slice(11, 23), scope: 'orders:self:read', day: '2026-01-31' }]);
  expect(await shown()).toContainEqual({ scope: 'orders:self:read', last_used_on: '2026-02-01' });
  await shop.send('PATCH', `/v1/api-keys/${id}`, { scopes: ['payments:self:read'] });
  expect(await shown()).toEqual([{ scope: 'payments:self:read', last_used_on: '2026-01-31' }]);
});

test('a repeated create is one key, also if the first answer was lost before it was stored', async () => {
  const repeat = { 'idempotency-key': 'create' };
  const first = await create(undefined, repeat);
  expect(await create(undefined, repeat)).toEqual(first);
  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, holder = null, leased_until = now()
      where merchant_id = $1 and key = 'create'`,
    [shop.id],
  );
  const again = await create(undefined, repeat);
  expect(again.key).not.toBe(first.key);
  expect({ ...again, key: '', last4: '' }).toEqual({ ...first, key: '', last4: '', updated_at: clock.toISOString() });
  expect([await statusFor(first.key), await statusFor(again.key)]).toEqual([401, 200]);
});

test('a rotated key works for the overlap, and its successor from then on', async () => {
  const old = await create({ scopes: ['orders:self:read'], label: 'Reports', expires_at: after(48 * HOUR) });
  const rotate = (body: object = {}, headers = {}) => shop.send('POST', `/v1/api-keys/${old.id}/rotate`, body, headers);
  const repeat = { 'idempotency-key': 'rotate' };
  const { status, body: next } = await rotate({ overlap_seconds: 3600 }, repeat);
  expect([status, next]).toEqual([
    201,
    expect.objectContaining({
      ...{ label: 'Reports', scopes: ['orders:self:read'], version: 2, expires_at: after(48 * HOUR).toISOString() },
    }),
  ]);
  expect((await rotate({ overlap_seconds: 3600 }, repeat)).body).toEqual(next);
  expect((await shop.send('GET', `/v1/api-keys/${old.id}`)).body).toMatchObject({
    status: 'active',
    rotated_at: clock.toISOString(),
    expires_at: after(HOUR).toISOString(),
  });
  expect((await rotate()).body).toMatchObject({ statusCode: 409, code: 'api_key_inactive' });
  expect([await statusFor(old.key), await statusFor(next.key)]).toEqual([200, 200]);
  clock = after(HOUR);
  expect([await statusFor(old.key), await statusFor(next.key)]).toEqual([401, 200]);
  expect((await shop.send('GET', `/v1/api-keys/${old.id}`)).body).toMatchObject({ status: 'expired' });
});

test('by default the overlap of a rotation is a day', async () => {
  const { id } = await create();
  await shop.send('POST', `/v1/api-keys/${id}/rotate`, {});
  const { expires_at } = (await shop.send('GET', `/v1/api-keys/${id}`)).body;
  expect(expires_at).toBe(after(DAY_SECONDS * 1_000).toISOString());
});

test('a rotation that is repeated because its answer was lost renews the secret of the successor', async () => {
  const old = await create();
  const rotate = () => shop.send('POST', `/v1/api-keys/${old.id}/rotate`, {}, { 'idempotency-key': 'lost-rotation' });
  const first = (await rotate()).body;
  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, holder = null, leased_until = now()
      where merchant_id = $1 and key = 'lost-rotation'`,
    [shop.id],
  );
  const again = (await rotate()).body;
  expect(again.id).toBe(first.id);
  expect([await statusFor(first.key), await statusFor(again.key), await statusFor(old.key)]).toEqual([401, 200, 200]);
});

test('a revoked key stays revoked, and can be neither changed nor rotated', async () => {
  const { id, key } = await create();
  const revoke = () => shop.send('POST', `/v1/api-keys/${id}/revoke`);
  const revoked = await revoke();
  expect(revoked).toMatchObject({ status: 201, body: { status: 'revoked', revoked_at: clock.toISOString() } });
  clock = after(HOUR);
  expect((await revoke()).body).toEqual(revoked.body);
  expect(await statusFor(key)).toBe(401);
  for (const answer of [
    await shop.send('PATCH', `/v1/api-keys/${id}`, { label: 'x' }),
    await shop.send('POST', `/v1/api-keys/${id}/rotate`, {}),
  ])
    expect(answer.body).toMatchObject({ statusCode: 409, code: 'api_key_inactive' });
});

test('a key can revoke itself', async () => {
  const { id, key } = await create({ scopes: ['api-keys:self:revoke', 'orders:self:read'] });
  const { status } = await send(gateway.app, 'POST', `/v1/api-keys/${id}/revoke`, undefined, { 'x-api-key': key });
  expect([status, await statusFor(key)]).toEqual([201, 401]);
});

test('scopes, addresses and label are changed one without the others', async () => {
  const { id, key } = await create({ scopes: ['orders:self:read'], label: 'Reports' });
  const change = async (body: object) => (await shop.send('PATCH', `/v1/api-keys/${id}`, body)).body;
  expect(await change({ scopes: ['payments:self:read'] })).toMatchObject({ label: 'Reports', allowed_ips: [] });
  expect([await statusFor(key), await statusFor(key, '/v1/payments')]).toEqual([403, 200]);
  expect(await change({ allowed_ips: ['203.0.113.7'] })).toMatchObject({ scopes: ['payments:self:read'] });
  expect(await statusFor(key, '/v1/payments')).toBe(401);
  expect(await change({ label: null, allowed_ips: [] })).not.toHaveProperty('label');
  expect(await statusFor(key, '/v1/payments')).toBe(200);
});

describe('a key gives no more than it may do itself', () => {
  let weak: { readonly id: string; readonly key: string };
  let strong: { readonly id: string };
  beforeEach(async () => {
    const scopes = Scope.options.filter((scope) => scope.startsWith('api-keys:') || scope === 'orders:self:read');
    weak = await create({ scopes, allowed_ips: ['127.0.0.1'], expires_at: after(HOUR) });
    strong = await create({ scopes: ['orders:self:delete'] });
  });
  const byWeak = (method: 'POST' | 'PATCH', path: string, body?: object) =>
    send(gateway.app, method, path, body, { 'x-api-key': weak.key });

  test.each<[string, object, string[]]>([
    ['another scope', { scopes: ['orders:self:delete'] }, ['scopes']],
    ['other addresses', { scopes: ['orders:self:read'], allowed_ips: ['10.0.0.0/8'] }, ['allowed_ips']],
    ['every address', { scopes: ['orders:self:read'], allowed_ips: [] }, ['allowed_ips']],
    ['a later end', { scopes: ['orders:self:read'], expires_at: '2026-02-28T00:00:00Z' }, ['expires_at']],
  ])('a new key with %s is refused', async (_, body, paths) => {
    const { status, body: refusal } = await byWeak('POST', '/v1/api-keys', body);
    expect([status, refusal.code]).toEqual([403, 'permission_exceeded']);
    expect(refusal.details.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  test('a new key has its limits by default', async () => {
    const { body } = await byWeak('POST', '/v1/api-keys', { scopes: ['orders:self:read'] });
    expect(body).toMatchObject({ allowed_ips: ['127.0.0.1'], expires_at: after(HOUR).toISOString() });
  });

  test('it cannot take the place of a stronger key', async () => {
    const { status, body } = await byWeak('POST', `/v1/api-keys/${strong.id}/rotate`, {});
    expect([status, body.code]).toEqual([403, 'permission_exceeded']);
    expect((await shop.send('GET', `/v1/api-keys/${strong.id}`)).body).not.toHaveProperty('rotated_at');
  });

  test('it cannot add a scope to itself or to another key, and changes nothing', async () => {
    const scopes = ['orders:self:read', 'orders:self:delete'];
    for (const { id } of [weak, strong]) {
      const before = (await shop.send('GET', `/v1/api-keys/${id}`)).body;
      expect((await byWeak('PATCH', `/v1/api-keys/${id}`, { scopes })).body).toMatchObject({
        code: 'permission_exceeded',
      });
      const {
        last_used_at: _used,
        last_used_from: _from,
        ...same
      } = (await shop.send('GET', `/v1/api-keys/${id}`)).body;
      expect(before).toMatchObject(same);
    }
  });

  test('it may name a stronger key, and revoke it', async () => {
    expect((await byWeak('PATCH', `/v1/api-keys/${strong.id}`, { label: 'old' })).status).toBe(200);
    expect((await byWeak('POST', `/v1/api-keys/${strong.id}/revoke`)).body).toMatchObject({ status: 'revoked' });
  });
});

test('a key of another merchant is not found, and not listed', async () => {
  const { id } = await create();
  const other = await gateway.merchant();
  const answers = [
    await other.send('GET', `/v1/api-keys/${id}`),
    await other.send('PATCH', `/v1/api-keys/${id}`, { label: 'mine' }),
    await other.send('POST', `/v1/api-keys/${id}/rotate`, {}),
    await other.send('POST', `/v1/api-keys/${id}/revoke`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect((await other.send('GET', '/v1/api-keys')).body).toMatchObject({ total: 1 });
  expect((await shop.send('GET', `/v1/api-keys/${id}`)).body).toMatchObject({ status: 'active' });
});

test('a merchant can have 50 active keys, also when many are created at once', async () => {
  const { id } = await create();
  const codes = async (count: number) =>
    (await Promise.all(Array.from({ length: count }, () => create()))).map(({ code }) => code ?? 'created');
  const answers = await codes(MAX_ACTIVE_KEYS);
  expect(answers.filter((code) => code === 'too_many_api_keys')).toHaveLength(2);
  expect(answers.filter((code) => code === 'created')).toHaveLength(MAX_ACTIVE_KEYS - 2);
  await shop.send('POST', `/v1/api-keys/${id}/revoke`);
  expect(await codes(1)).toEqual(['created']);
});

test.each<[object, string]>([
  [{}, 'scopes: is required'],
  [{ scopes: [] }, 'scopes: must have at least 1 item'],
  [{ scopes: ['orders:self:burn'] }, 'scopes.0: must be one of'],
  [{ scopes: ['orders:self:read', 'orders:self:read'] }, 'scopes: must not repeat a scope'],
  [{ scopes: ['orders:self:read'], allowed_ips: ['10.0.0.0/40'] }, 'allowed_ips.0: must be an IP address or a CIDR'],
  [{ scopes: ['orders:self:read'], expires_at: '2026-01-31T11:00:00Z' }, 'expires_at: is in the past'],
  [{ scopes: ['orders:self:read'], expires_at: '2026-02-01' }, 'expires_at: needs a time and a timezone'],
  [{ scopes: ['orders:self:read'], key: 'x' }, 'key: is not a known field'],
])('%j is refused: %s', async (body, message) => {
  const answer = await create(body);
  expect([answer.statusCode, answer.message]).toEqual([400, expect.stringContaining(message)]);
});
