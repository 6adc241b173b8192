import type { Order, Webhook } from '@cpg/contracts';
import { createApi, type Method, refusalOf } from './harness/api.ts';
import { admin, createKey, openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const stack = sharedStack();
let shop: Shop;
let order: Order;
let webhook: Webhook;

beforeAll(async () => {
  shop = await openShop(stack);
  order = await shop.api.createOrder(orderBody());
  webhook = await shop.api.createWebhook({ url: 'http://127.0.0.1:9/', events: ['order:created'] });
});
afterAll(() => shop.api.close());

const as = async <T>(
  apiKey: string | undefined,
  work: (api: ReturnType<typeof createApi>) => Promise<T>,
): Promise<T> => {
  const api = createApi({ baseUrl: stack.baseUrl, apiKey });
  try {
    return await work(api);
  } finally {
    await api.close();
  }
};
const statusFor = (apiKey: string | undefined) =>
  as(apiKey, async (api) => (await api.send('GET', '/v1/merchants/me')).status);
const kidOf = (key: string) => key.slice('ak_sandbox_'.length).slice(0, 12);

test('a key reads its own merchant', async () => {
  expect(await shop.api.merchant()).toEqual({
    id: shop.id,
    external_reference_id: expect.stringMatching(/^shop-/),
    type: 'individual',
    individual_profile: { first_name: 'Ada', last_name: 'Test', email: 'ada@shop.example' },
    payment_methods: [
      {
        type: 'gateway_pay',
        supported_currencies: ['USDT', 'USDC', 'USDG', 'BTC', 'ETH', 'CAZ'],
        deposit_instructions: {},
      },
      {
        type: 'crypto_deposit',
        supported_currencies: ['USDT', 'USDC', 'USDG', 'BTC', 'ETH', 'CAZ'],
        deposit_instructions: {},
      },
    ],
    order_defaults: {},
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test('SANDBOX_API_KEY belongs to the demo merchant', async () => {
  expect(await as(stack.apiKey, (api) => api.merchant())).toMatchObject({ id: stack.merchantId, type: 'business' });
});

test('a missing, malformed, unknown or live key is refused with the error of the API reference', async () => {
  const { key } = shop;
  const wrong = [
    undefined,
    '',
    'nonsense',
    key.slice(0, -1),
    `${key}x`,
    key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a'),
    key.replace('ak_sandbox_', 'ak_live_'),
    `ak_sandbox_${'0'.repeat(64)}`,
    `Bearer ${key}`,
  ];
  for (const apiKey of wrong) {
    const answer = await as(apiKey, (api) => api.send('GET', '/v1/merchants/me'));
    expect(answer.status).toBe(401);
    expect(refusalOf(answer)).toMatchObject({
      error: 'Unauthorized',
      message: 'Invalid API key provided',
      statusCode: 401,
      code: 'unauthorized',
      request_id: expect.stringMatching(/^req_/),
    });
  }
});

describe('each scope allows its own endpoints only', () => {
  const UNKNOWN_ID = 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const endpoints = (): [Method, string, string, unknown, number][] => [
    ['GET', '/v1/merchants/me', 'merchant:self:read', undefined, 200],
    ['POST', '/v1/orders', 'orders:self:create', orderBody(), 201],
    ['GET', '/v1/orders', 'orders:self:read', undefined, 200],
    ['GET', `/v1/orders/${order.id}`, 'orders:self:read', undefined, 200],
    ['PATCH', `/v1/orders/${order.id}`, 'orders:self:update', { metadata: {} }, 200],
    ['POST', `/v1/orders/${order.id}/capture`, 'orders:self:update', undefined, 201],
    ['POST', `/v1/orders/${UNKNOWN_ID}/cancel`, 'orders:self:update', undefined, 404],
    ['DELETE', `/v1/orders/${UNKNOWN_ID}`, 'orders:self:delete', undefined, 404],
    ['GET', '/v1/payments', 'payments:self:read', undefined, 200],
    ['GET', `/v1/payments/${UNKNOWN_ID}`, 'payments:self:read', undefined, 404],
    ['POST', '/v1/webhooks', 'webhooks:self:create', { url: 'http://127.0.0.1:9/', events: ['order:paid'] }, 201],
    ['GET', '/v1/webhooks', 'webhooks:self:read', undefined, 200],
    ['GET', `/v1/webhooks/${webhook.id}`, 'webhooks:self:read', undefined, 200],
    ['PATCH', `/v1/webhooks/${webhook.id}`, 'webhooks:self:update', { is_enabled: false }, 200],
    ['POST', `/v1/webhooks/${webhook.id}/rotate-secret`, 'webhooks:self:update', undefined, 201],
    ['DELETE', `/v1/webhooks/${UNKNOWN_ID}`, 'webhooks:self:delete', undefined, 404],
    ['GET', '/v1/merchants/me/overview', 'reports:self:read', undefined, 200],
    ['GET', '/v1/api-keys', 'api-keys:self:read', undefined, 200],
    ['POST', '/v1/api-keys', 'api-keys:self:create', { scopes: ['api-keys:self:create'] }, 201],
    ['PATCH', `/v1/api-keys/${UNKNOWN_ID}`, 'api-keys:self:update', { label: 'x' }, 404],
    ['POST', `/v1/api-keys/${UNKNOWN_ID}/revoke`, 'api-keys:self:revoke', undefined, 404],
    ['GET', '/v1/requests', 'requests:self:read', undefined, 200],
    ['GET', '/v1/merchants/me/audit-log', 'audit-log:self:read', undefined, 200],
    ['GET', '/v1/users', 'users:self:read', undefined, 200],
    ['POST', '/v1/users', 'users:self:create', { email: 'nobody' }, 400],
    ['PATCH', `/v1/users/${UNKNOWN_ID}`, 'users:self:update', { name: 'x' }, 404],
    ['DELETE', `/v1/users/${UNKNOWN_ID}`, 'users:self:delete', undefined, 404],
  ];
  const scopes = [
    'merchant:self:read',
    'orders:self:create',
    'orders:self:read',
    'orders:self:update',
    'orders:self:delete',
    'payments:self:read',
    'webhooks:self:create',
    'webhooks:self:read',
    'webhooks:self:update',
    'webhooks:self:delete',
    'reports:self:read',
    'api-keys:self:create',
    'api-keys:self:read',
    'api-keys:self:update',
    'api-keys:self:revoke',
    'requests:self:read',
    'audit-log:self:read',
    'users:self:read',
    'users:self:create',
    'users:self:update',
    'users:self:delete',
  ];

  test.each(scopes)('%s', async (scope) => {
    const apiKey = await createKey(stack, shop.id, scope);
    await as(apiKey, async (api) => {
      for (const [method, path, needed, body, expected] of endpoints()) {
        const answer = await api.send(method, path, { body });
        const asked = `${method} ${path}`;
        if (needed === scope) expect([asked, answer.status]).toEqual([asked, expected]);
        else {
          expect([asked, refusalOf(answer)]).toEqual([
            asked,
            {
              error: 'Forbidden',
              message: 'Insufficient scope',
              statusCode: 403,
              code: 'insufficient_scope',
              required_scope: needed,
              request_id: expect.stringMatching(/^req_/),
            },
          ]);
        }
      }
    });
  });

  test('403 comes before validation errors', async () => {
    const apiKey = await createKey(stack, shop.id, 'merchant:self:read');
    const answers = await as(apiKey, (api) =>
      Promise.all([
        api.send('POST', '/v1/orders', { body: { broken: true } }),
        api.send('POST', '/v1/orders', { body: '{', headers: { 'content-type': 'text/plain' } }),
        api.send('GET', '/v1/orders/nonsense'),
        api.send('GET', '/v1/payments?page=0'),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });
});

describe('a key', () => {
  test('is refused after it was revoked', async () => {
    const key = await createKey(stack, shop.id, 'all');
    expect(await statusFor(key)).toBe(200);
    await admin(stack, ['keys', 'revoke', kidOf(key)]);
    // Gateways cache keys for three seconds.
    await until('the key to be refused', async () => (await statusFor(key)) === 401);
  });

  test('works with its successor during the overlap of a rotation', async () => {
    const key = await createKey(stack, shop.id, 'all');
    const [next] = (await admin(stack, ['keys', 'rotate', kidOf(key), '--overlap', '1h'])).split('\n');
    expect(next).not.toBe(key);
    expect([await statusFor(key), await statusFor(next)]).toEqual([200, 200]);
  });

  test('is refused at once after a rotation without overlap', async () => {
    const key = await createKey(stack, shop.id, 'all');
    const [next] = (await admin(stack, ['keys', 'rotate', kidOf(key), '--overlap', '0m'])).split('\n');
    expect([await statusFor(key), await statusFor(next)]).toEqual([401, 200]);
  });

  test('works only from its allowed addresses', async () => {
    const near = await createKey(stack, shop.id, 'all', { allowedIps: '127.0.0.0/8' });
    const far = await createKey(stack, shop.id, 'all', { allowedIps: '203.0.113.7' });
    expect([await statusFor(near), await statusFor(far)]).toEqual([200, 401]);
  });

  test('is not shown by `keys list`', async () => {
    const listed = await admin(stack, ['keys', 'list', shop.id]);
    expect(listed).toContain(kidOf(shop.key));
    expect(listed).not.toContain(shop.key.slice('ak_sandbox_'.length + 12));
  });
});
