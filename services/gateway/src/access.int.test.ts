import { Scope } from './keys/scopes.ts';
import { newSeed } from './seed.ts';
import { orderBody, send, startGateway, type TestGateway, type TestMerchant } from './testing/jest-gateway.ts';

const order = `ord_${newSeed()}`;
const webhook = `whk_${newSeed()}`;
const delivery = `dlv_${newSeed()}`;

const ENDPOINTS = [
  ['GET', '/v1/merchants/me', 'merchant:self:read'],
  ['POST', '/v1/orders', 'orders:self:create'],
  ['GET', '/v1/orders', 'orders:self:read'],
  ['GET', `/v1/orders/${order}`, 'orders:self:read'],
  ['GET', `/v1/orders/${order}/history`, 'orders:self:read'],
  ['PATCH', `/v1/orders/${order}`, 'orders:self:update'],
  ['DELETE', `/v1/orders/${order}`, 'orders:self:delete'],
  ['POST', `/v1/orders/${order}/cancel`, 'orders:self:update'],
  ['POST', `/v1/orders/${order}/capture`, 'orders:self:update'],
  ['GET', '/v1/payments', 'payments:self:read'],
  ['GET', `/v1/payments/pay_${newSeed()}`, 'payments:self:read'],
  ['POST', `/v1/payments/pay_${newSeed()}/refund`, 'payments:self:refund'],
  ['POST', '/v1/webhooks', 'webhooks:self:create'],
  ['GET', '/v1/webhooks', 'webhooks:self:read'],
  ['GET', `/v1/webhooks/${webhook}`, 'webhooks:self:read'],
  ['PATCH', `/v1/webhooks/${webhook}`, 'webhooks:self:update'],
  ['DELETE', `/v1/webhooks/${webhook}`, 'webhooks:self:delete'],
  ['POST', `/v1/webhooks/${webhook}/rotate-secret`, 'webhooks:self:update'],
  ['GET', `/v1/webhooks/${webhook}/deliveries`, 'webhooks:self:read'],
  ['GET', `/v1/webhooks/${webhook}/deliveries/${delivery}`, 'webhooks:self:read'],
  ['POST', `/v1/webhooks/${webhook}/deliveries/${delivery}/redeliver`, 'webhooks:self:update'],
  ['POST', `/v1/webhooks/${webhook}/replay`, 'webhooks:self:update'],
] as const;

const UNAUTHORIZED = { error: 'Unauthorized', message: 'Invalid API key provided', statusCode: 401 };
const FORBIDDEN = { error: 'Forbidden', message: 'Insufficient scope', statusCode: 403 };
const LIMITED = {
  error: 'Rate limit exceeded',
  message: 'Too many requests. Please try again later.',
  statusCode: 429,
};

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway({ trustMs: 0 });
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

test('every endpoint under /v1 is in this table', async () => {
  const { paths } = (await send(gateway.app, 'GET', '/openapi.json')).body;
  const documented = Object.keys(paths)
    .filter((path) => path.startsWith('/v1/'))
    .flatMap((path) => Object.keys(paths[path]).map((method) => `${method.toUpperCase()} ${path}`));
  const tabled = ENDPOINTS.map(
    ([method, path]) =>
      `${method} ${path.replace(/(ord|pay|whk)_[^/]+/, '{id}').replace(/dlv_[^/]+/, '{delivery_id}')}`,
  );
  expect(tabled.sort()).toEqual(documented.sort());
});

describe.each(ENDPOINTS)('%s %s', (method, url, scope) => {
  const broken = method === 'GET' ? undefined : '{"not": json';

  test('is 401 without a key, before its body is read', async () => {
    const { status, body } = await send(gateway.app, method, url, broken);
    expect({ status, body }).toEqual({
      status: 401,
      body: { ...UNAUTHORIZED, code: 'unauthorized', request_id: expect.any(String) },
    });
  });

  test(`is 403 with every scope but ${scope}, before its body is read`, async () => {
    const key = await shop.issue({ scopes: Scope.options.filter((other) => other !== scope) });
    const { status, body } = await send(gateway.app, method, url, broken, { 'x-api-key': key });
    expect({ status, body }).toEqual({
      status: 403,
      body: { ...FORBIDDEN, code: 'insufficient_scope', request_id: expect.any(String) },
    });
  });

  test(`lets ${scope} alone in`, async () => {
    const key = await shop.issue({ scopes: [scope] });
    const { status } = await send(gateway.app, method, url, undefined, { 'x-api-key': key });
    expect([200, 201, 400, 404]).toContain(status);
  });
});

describe('keys', () => {
  const me = (key: string, headers = {}) =>
    send(gateway.app, 'GET', '/v1/merchants/me', undefined, { 'x-api-key': key, ...headers });

  test('the merchant of a key is who defined it', async () => {
    const { status, body } = await me(shop.key);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: shop.id, type: 'individual', individual_profile: { first_name: 'Ada' } });
    expect(body).not.toHaveProperty('metadata');
    expect(body).not.toHaveProperty('business_profile');
    expect(body).not.toHaveProperty('updated_at');
  });

  test('one that is malformed, unknown, of the other environment, or nearly right is 401', async () => {
    const wrong = ['', 'nonsense', `ak_sandbox_${'a'.repeat(40)}`, shop.key.replace('sandbox', 'live'), `${shop.key}x`];
    const answers = await Promise.all(wrong.map((key) => me(key)));
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual(
      wrong.map(() => ({ status: 401, body: expect.objectContaining(UNAUTHORIZED) })),
    );
  });

  test('one that expired, was revoked, or is used from elsewhere is 401', async () => {
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

  test('when one was last used is noted in batches', async () => {
    const key = await shop.issue({});
    const noted = async () =>
      (await gateway.pool.query('select last_used_at from gateway.api_keys where kid = $1', [key.slice(11, 23)]))
        .rows[0];
    await me(key);
    expect(await noted()).toEqual({ last_used_at: null });
    await gateway.flushLastUses();
    expect((await noted()).last_used_at.getTime()).toBeGreaterThan(Date.now() - 10_000);
  });

  test('nothing of a key but its hash and its end is kept', async () => {
    const { rows } = await gateway.pool.query<{ row: string }>(
      'select k::text as row from gateway.api_keys k where kid = $1',
      [shop.key.slice(11, 23)],
    );
    expect(rows[0]?.row).not.toContain(shop.key.slice(23));
    expect(rows[0]?.row).toContain('HMAC-SHA256');
  });
});

test('everywhere else no key is needed, and security headers are set', async () => {
  for (const path of ['/health', '/health/ready', '/openapi.json', '/docs']) {
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

test('the page at /docs loads only files that are served here, by a policy without inline scripts', async () => {
  const { text, headers } = await send(gateway.app, 'GET', '/docs');
  const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    (match) => new URL(match[1]!, 'http://here/docs').pathname,
  );
  expect(files.length).toBeGreaterThan(3);
  for (const file of files)
    expect({ file, status: (await send(gateway.app, 'GET', file)).status }).toEqual({ file, status: 200 });
  expect(text).not.toMatch(/<script(?![^>]*src=)/);
  expect(headers['content-security-policy']).toContain("script-src 'self';");
});

test('what does not exist is 404 in the form of every error', async () => {
  expect((await shop.send('GET', '/v1/refunds')).body).toEqual({
    error: 'Not Found',
    message: 'there is no GET /v1/refunds',
    statusCode: 404,
    code: 'not_found',
    request_id: expect.any(String),
  });
});

describe('limits', () => {
  let limited: TestGateway;
  beforeAll(async () => {
    limited = await startGateway({ perSecond: 0.5, burst: 3, failuresPerMinute: 2 });
  });
  afterAll(() => limited.close());

  test('a key that asks too often is 429 with what it may know, whatever else is wrong', async () => {
    const hasty = await limited.merchant({ scopes: ['orders:self:read'] });
    const answers = [];
    for (let request = 0; request < 5; request += 1) answers.push(await hasty.send('POST', '/v1/orders', orderBody()));
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 429, 429]);
    expect(answers[0]?.headers).toMatchObject({
      'ratelimit-limit': '3',
      'ratelimit-remaining': '2',
      'ratelimit-reset': '2',
    });
    expect(answers[3]?.body).toMatchObject({ ...LIMITED, code: 'rate_limited' });
    expect(answers[3]?.headers).toMatchObject({ 'ratelimit-remaining': '0', 'retry-after': '2' });
    const other = await limited.merchant();
    expect((await other.send('GET', '/v1/orders')).status).toBe(200);
  });

  test('an address that fails too often is 429; a good key works from there all the same', async () => {
    const guess = (from: string) =>
      send(limited.app, 'GET', '/v1/orders', undefined, {
        'x-api-key': `ak_sandbox_${'b'.repeat(40)}`,
        'x-forwarded-for': from,
      });
    const statuses = [];
    for (let request = 0; request < 4; request += 1) statuses.push((await guess('198.51.100.7')).status);
    expect(statuses).toEqual([401, 401, 429, 429]);
    const last = await guess('198.51.100.7');
    expect(last.body).toMatchObject(LIMITED);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    expect((await guess('198.51.100.8')).status).toBe(401);
    const good = await limited.merchant();
    expect((await good.send('GET', '/v1/orders', undefined, { 'x-forwarded-for': '198.51.100.7' })).status).toBe(200);
  });
});
