import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { send } from '../../testing/jest-send.ts';
import { Role, ROLES } from '../../identity/roles.ts';
import { createTestUser, openBrowser, type TestBrowser } from '../../testing/jest-users.ts';
import { setMerchantStatus } from '../../admin/merchants.ts';
import { Scope } from './api-key.ts';

const order = `ord_${newUlid()}`;
const webhook = `whk_${newUlid()}`;
const apiKey = `key_${newUlid()}`;
const user = `usr_${newUlid()}`;
const delivery = `dlv_${newUlid()}`;

const ENDPOINTS = [
  ['GET', '/v1/currencies', 'merchant:self:read'],
  ['GET', '/v1/merchants/me', 'merchant:self:read'],
  ['PATCH', '/v1/merchants/me', 'merchant:self:update'],
  ['GET', '/v1/merchants/me/deposit-settings', 'merchant:self:read'],
  ['GET', '/v1/merchants/me/audit-log', 'audit-log:self:read'],
  ['GET', '/v1/merchants/me/overview', 'reports:self:read'],
  ['GET', '/v1/reports/volume', 'reports:self:read'],
  ['GET', '/v1/reports/settlements', 'reports:self:read'],
  ['GET', '/v1/reports/settlements.csv', 'reports:self:read'],
  ['GET', '/v1/reports/balances', 'reports:self:read'],
  ['GET', '/v1/merchants/me/payment-page', 'merchant:self:read'],
  ['PUT', '/v1/merchants/me/payment-page', 'merchant:self:update'],
  ['POST', '/v1/orders', 'orders:self:create'],
  ['GET', '/v1/orders', 'orders:self:read'],
  ['GET', `/v1/orders/${order}`, 'orders:self:read'],
  ['GET', `/v1/orders/${order}/history`, 'orders:self:read'],
  ['PATCH', `/v1/orders/${order}`, 'orders:self:update'],
  ['DELETE', `/v1/orders/${order}`, 'orders:self:delete'],
  ['POST', `/v1/orders/${order}/cancel`, 'orders:self:update'],
  ['POST', `/v1/orders/${order}/capture`, 'orders:self:update'],
  ['POST', `/v1/orders/${order}/accept`, 'orders:self:update'],
  ['POST', `/v1/orders/${order}/refund`, 'payments:self:refund'],
  ['GET', '/v1/payments', 'payments:self:read'],
  ['GET', `/v1/payments/pay_${newUlid()}`, 'payments:self:read'],
  ['POST', `/v1/payments/pay_${newUlid()}/refund`, 'payments:self:refund'],
  ['GET', '/v1/refunds', 'payments:self:read'],
  ['POST', `/v1/refunds/rfd_${newUlid()}/request`, 'payments:self:refund'],
  ['POST', `/v1/refunds/rfd_${newUlid()}/cancel`, 'payments:self:refund'],
  ['POST', `/v1/refunds/rfd_${newUlid()}/claim`, 'payments:self:refund'],
  ['GET', `/v1/refunds/rfd_${newUlid()}`, 'payments:self:read'],
  ['POST', '/v1/api-keys', 'api-keys:self:create'],
  ['GET', '/v1/api-keys', 'api-keys:self:read'],
  ['GET', `/v1/api-keys/${apiKey}`, 'api-keys:self:read'],
  ['PATCH', `/v1/api-keys/${apiKey}`, 'api-keys:self:update'],
  ['POST', `/v1/api-keys/${apiKey}/rotate`, 'api-keys:self:update'],
  ['POST', `/v1/api-keys/${apiKey}/revoke`, 'api-keys:self:revoke'],
  ['GET', '/v1/requests', 'requests:self:read'],
  ['GET', '/v1/roles', 'users:self:read'],
  ['POST', '/v1/users', 'users:self:create'],
  ['GET', '/v1/users', 'users:self:read'],
  ['GET', `/v1/users/${user}`, 'users:self:read'],
  ['PATCH', `/v1/users/${user}`, 'users:self:update'],
  ['POST', `/v1/users/${user}/sign-in-links`, 'users:self:update'],
  ['DELETE', `/v1/users/${user}`, 'users:self:delete'],
  ['POST', '/v1/webhooks', 'webhooks:self:create'],
  ['GET', '/v1/webhooks', 'webhooks:self:read'],
  ['GET', `/v1/webhooks/${webhook}`, 'webhooks:self:read'],
  ['PATCH', `/v1/webhooks/${webhook}`, 'webhooks:self:update'],
  ['DELETE', `/v1/webhooks/${webhook}`, 'webhooks:self:delete'],
  ['POST', `/v1/webhooks/${webhook}/rotate-secret`, 'webhooks:self:update'],
  ['GET', '/v1/deliveries', 'webhooks:self:read'],
  ['GET', `/v1/orders/${order}/deliveries`, 'webhooks:self:read'],
  ['GET', `/v1/webhooks/${webhook}/deliveries`, 'webhooks:self:read'],
  ['GET', `/v1/webhooks/${webhook}/deliveries/${delivery}`, 'webhooks:self:read'],
  ['POST', `/v1/webhooks/${webhook}/deliveries/${delivery}/redeliver`, 'webhooks:self:update'],
  ['GET', `/v1/webhooks/${webhook}/health`, 'webhooks:self:read'],
  ['POST', `/v1/webhooks/${webhook}/replay`, 'webhooks:self:update'],
  ['GET', `/v1/webhooks/${webhook}/replays`, 'webhooks:self:read'],
  ['GET', `/v1/webhooks/${webhook}/replays/rpl_${newUlid()}`, 'webhooks:self:read'],
  ['POST', `/v1/webhooks/${webhook}/replays/rpl_${newUlid()}/cancel`, 'webhooks:self:update'],
] as const;

const UNAUTHORIZED = { error: 'Unauthorized', message: 'Invalid API key provided', statusCode: 401 };
const FORBIDDEN = { error: 'Forbidden', message: 'Insufficient scope', statusCode: 403 };

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway({ cacheTtlMs: 0 });
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

test('the table lists every /v1 endpoint', async () => {
  const { paths } = (await send(gateway.app, 'GET', '/openapi.json')).body;
  const documented = Object.keys(paths)
    .filter((path) => path.startsWith('/v1/') && !path.startsWith('/v1/providers/'))
    .flatMap((path) => Object.keys(paths[path]).map((method) => `${method.toUpperCase()} ${path}`));
  const inTable = ENDPOINTS.map(
    ([method, path]) =>
      `${method} ${path
        .replace(/(ord|pay|rfd|whk|key|usr)_[^/]+/, '{id}')
        .replace(/dlv_[^/]+/, '{delivery_id}')
        .replace(/rpl_[^/]+/, '{replay_id}')}`,
  );
  expect(inTable.sort()).toEqual(documented.sort());
});

describe.each(ENDPOINTS)('%s %s', (method, url, scope) => {
  const malformed = method === 'GET' ? undefined : '{"not": json';

  test('is 401 without a key, before the body is read', async () => {
    const { status, body } = await send(gateway.app, method, url, malformed);
    expect({ status, body }).toEqual({
      status: 401,
      body: {
        ...UNAUTHORIZED,
        code: 'unauthorized',
        request_id: expect.any(String),
        details: [{ path: 'x-api-key', message: 'is missing: send the API key in this header' }],
      },
    });
  });

  test(`is 403 with every scope but ${scope}, before the body is read`, async () => {
    const key = await shop.issue({ scopes: Scope.options.filter((other) => other !== scope) });
    const { status, body } = await send(gateway.app, method, url, malformed, { 'x-api-key': key });
    expect({ status, body }).toEqual({
      status: 403,
      body: {
        ...FORBIDDEN,
        code: 'insufficient_scope',
        request_id: expect.any(String),
        required_scope: scope,
      },
    });
  });

  test(`accepts a key with only ${scope}`, async () => {
    const key = await shop.issue({ scopes: [scope] });
    const { status } = await send(gateway.app, method, url, undefined, { 'x-api-key': key });
    expect([200, 201, 400, 404]).toContain(status);
  });
});

describe.each(Role.options)('a user who is %s', (role) => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = openBrowser(gateway.app);
    await browser.signIn((await createTestUser(gateway, shop.id, role)).email);
  });

  test('may do what its scopes say, and nothing else', async () => {
    for (const [method, url, scope] of ENDPOINTS) {
      const { status, body } = await browser.send(method, url, method === 'GET' ? undefined : { unknown: true });
      const isRefused = status === 403 && body.required_scope === scope;
      expect({ method, url, isRefused }).toEqual({ method, url, isRefused: !ROLES[role].scopes.includes(scope) });
      if (!isRefused) expect([200, 201, 400, 404]).toContain(status);
    }
  });

  test('changes nothing without the token of the session', async () => {
    for (const [method, url] of ENDPOINTS) {
      if (method === 'GET') continue;
      const { body } = await browser.send(method, url, {}, { 'x-csrf-token': '' });
      expect({ method, url, code: body.code }).toEqual({ method, url, code: 'cross_site_request' });
    }
  });
});

describe('keys', () => {
  const me = (key: string, headers = {}) =>
    send(gateway.app, 'GET', '/v1/merchants/me', undefined, { 'x-api-key': key, ...headers });

  test('GET /v1/merchants/me returns the merchant of the key', async () => {
    const { status, body } = await me(shop.key);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: shop.id, type: 'individual', individual_profile: { first_name: 'Ada' } });
    expect(body).not.toHaveProperty('metadata');
    expect(body).not.toHaveProperty('business_profile');
    expect(body).not.toHaveProperty('updated_at');
  });

  test('a malformed, unknown or modified key, or one of the other environment, is 401', async () => {
    const wrong = ['', 'nonsense', `ak_sandbox_${'a'.repeat(40)}`, shop.key.replace('sandbox', 'live'), `${shop.key}x`];
    const answers = await Promise.all(wrong.map((key) => me(key)));
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual(
      wrong.map(() => ({ status: 401, body: expect.objectContaining(UNAUTHORIZED) })),
    );
  });

  test('a 401 says what is wrong with the header, where its form shows it', async () => {
    const detailOf = async (headers: object) => {
      const { body } = await send(gateway.app, 'GET', '/v1/merchants/me', undefined, { ...headers });
      return (body as { details?: { path: string; message: string }[] }).details?.map(
        ({ path, message }) => `${path}: ${message}`,
      );
    };
    const start = 'keys of this gateway start with "ak_sandbox_"';
    expect(await detailOf({ authorization: `Bearer ${shop.key}` })).toEqual([
      'x-api-key: is missing: send the API key in this header, not in Authorization',
    ]);
    expect(await detailOf({ 'x-api-key': `Bearer ${shop.key}` })).toEqual([
      'x-api-key: must be the key alone, without "Bearer"',
    ]);
    expect(await detailOf({ 'x-api-key': shop.key.replace('sandbox', 'live') })).toEqual([
      `x-api-key: is a key of another environment: ${start}`,
    ]);
    expect(await detailOf({ 'x-api-key': 'nonsense' })).toEqual([`x-api-key: is no API key: ${start}`]);
    // An unknown key, a revoked one and one of another address look the same.
    expect(await detailOf({ 'x-api-key': `${shop.key}x` })).toBeUndefined();
  });

  test('an expired or revoked key, or one used from another address, is 401', async () => {
    const expired = await shop.issue({ expiresAt: new Date(Date.now() - 1) });
    const bound = await shop.issue({ allowedIps: ['203.0.113.0/24'] });
    const revoked = await shop.issue({});
    expect((await me(revoked)).status).toBe(200);
    await gateway.pool.query(`update gateway.api_keys set status = 'revoked' where kid = $1`, [revoked.slice(11, 23)]);
    expect(await Promise.all([expired, revoked, bound].map(async (key) => (await me(key)).status))).toEqual([
      401, 401, 401,
    ]);
    expect((await me(bound, { 'x-forwarded-for': '203.0.113.77' })).status).toBe(200);
  });

  test('the keys of a disabled merchant are 403 until it is enabled', async () => {
    const other = await gateway.merchant();
    const setStatus = (status: 'active' | 'disabled') =>
      setMerchantStatus(gateway.pool, other.id, { status, at: new Date(), by: 'Ana', reason: 'ticket 7' });
    const debug = () =>
      send(
        gateway.app,
        'POST',
        '/debug/test-webhook',
        { webhook_id: webhook, event_type: 'order:paid' },
        {
          'x-api-key': other.key,
        },
      );
    await setStatus('disabled');
    for (const { status, body } of [await me(other.key), await debug()])
      expect({ status, body }).toMatchObject({
        status: 403,
        body: { error: 'Forbidden', code: 'merchant_disabled', message: expect.stringContaining('ask the operator') },
      });
    await setStatus('active');
    expect((await me(other.key)).status).toBe(200);
  });

  test('stores the time and the address of the last use in batches', async () => {
    const key = await shop.issue({});
    const stored = async () =>
      (
        await gateway.pool.query('select last_used_at, last_used_from from gateway.api_keys where kid = $1', [
          key.slice(11, 23),
        ])
      ).rows[0];
    await me(key, { 'x-forwarded-for': '203.0.113.77' });
    expect(await stored()).toEqual({ last_used_at: null, last_used_from: null });
    await gateway.flushLastUsed();
    const { last_used_at: at, last_used_from: from } = await stored();
    expect(at.getTime()).toBeGreaterThan(Date.now() - 10_000);
    expect(from).toBe('203.0.113.77');
  });

  test('stores only the hash and the last characters of a key', async () => {
    const { rows } = await gateway.pool.query<{ row: string }>(
      'select k::text as row from gateway.api_keys k where kid = $1',
      [shop.key.slice(11, 23)],
    );
    expect(rows[0]?.row).not.toContain(shop.key.slice(23));
    expect(rows[0]?.row).toContain('HMAC-SHA256');
  });
});

test('other paths need no key, and have security headers', async () => {
  for (const path of ['/health', '/health/ready', '/openapi.json', '/docs', '/docs/errors']) {
    const { status, headers } = await send(gateway.app, 'GET', path);
    expect({ path, status }).toEqual({ path, status: 200 });
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-request-id': expect.stringMatching(/^req_/),
    });
  }
  expect((await send(gateway.app, 'GET', '/health')).body).toEqual({ status: 'ok' });
});

test('no cache may store an answer, with a secret or without', async () => {
  const webhook = { url: 'https://shop.example/hooks', events: ['order:paid'] };
  const answers = [
    await shop.send('POST', '/v1/webhooks', webhook, { 'idempotency-key': 'no-store' }),
    await shop.send('POST', '/v1/webhooks', webhook, { 'idempotency-key': 'no-store' }),
    await shop.send('GET', '/v1/merchants/me'),
    await send(gateway.app, 'GET', '/v1/merchants/me'),
    await send(gateway.app, 'POST', '/debug/test-webhook', {}),
  ];
  expect(answers.map(({ status, headers }) => [status, headers['cache-control']])).toEqual(
    [201, 201, 200, 401, 400].map((status) => [status, 'no-store']),
  );
});

test('an unknown path is 404 in the format of all errors', async () => {
  expect((await shop.send('GET', '/v1/chargebacks')).body).toEqual({
    error: 'Not Found',
    message: 'there is no endpoint GET /v1/chargebacks: /docs lists all endpoints',
    statusCode: 404,
    code: 'not_found',
    request_id: expect.any(String),
  });
});
