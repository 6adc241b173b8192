import pg from 'pg';
import { createApi, refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { startExtraGateway } from './harness/services.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let gateway: Awaited<ReturnType<typeof startExtraGateway>>;

beforeAll(async () => {
  [shop, gateway] = await Promise.all([
    openShop(stack),
    startExtraGateway(stack, {
      RATE_LIMIT_PER_SECOND: '1000',
      RATE_LIMIT_BURST: '1000',
      RATE_LIMIT_AUTH_PER_MINUTE: '5',
    }),
  ]);
});
afterAll(async () => {
  await shop.api.close();
  await gateway.stop();
});

test('a change is visible in every gateway as soon as it is answered, by id and in lists', async () => {
  const there = createApi({ baseUrl: gateway.baseUrl, apiKey: shop.key });
  const gateways = [shop.api, there];
  for (let n = 0; n < 20; n += 1) {
    const [here, elsewhere] = n % 2 === 0 ? gateways : [...gateways].reverse();
    const reference = `seen-${n}`;
    const created = await here!.createOrder(orderBody({ external_reference_id: reference }));
    expect(await elsewhere!.order(created.id)).toEqual(created);
    expect((await elsewhere!.orders({ limit: 1 })).items).toEqual([created]);

    const paid = await elsewhere!.pay({
      order_id: created.id,
      payment_rail: 'crypto_deposit',
      amount: '10',
      currency: 'USDT',
    });
    const [payment] = paid.payments;
    expect(await here!.order(created.id)).toEqual(paid);
    expect((await here!.orders({ external_reference_id: reference, status: 'paid' })).items).toEqual([paid]);
    expect((await here!.orders({ external_reference_id: reference, status: 'awaiting_payment' })).total).toBe(0);
    expect(await here!.payment(payment!.id)).toEqual(payment);
    expect((await here!.payments({ limit: 1 })).items).toEqual([payment]);

    if (n % 4 === 0) {
      await here!.deleteOrder(created.id);
      expect((await elsewhere!.send('GET', `/v1/orders/${created.id}`)).status).toBe(404);
      expect((await elsewhere!.orders({ external_reference_id: reference })).total).toBe(0);
      expect((await elsewhere!.send('GET', `/v1/payments/${payment!.id}`)).status).toBe(404);
    }
  }
  await there.close();
});

test('an idempotency key is shared by all gateways', async () => {
  const there = createApi({ baseUrl: gateway.baseUrl, apiKey: shop.key });
  const headers = { 'idempotency-key': 'across-gateways' };
  const created = await shop.api.createOrder(orderBody(), headers);
  expect(await there.createOrder(orderBody(), headers)).toEqual(created);
  await there.close();
});

describe('a gateway with rate limits', () => {
  let limited: Awaited<ReturnType<typeof startExtraGateway>>;
  beforeAll(async () => {
    limited = await startExtraGateway(stack, {
      RATE_LIMIT_PER_SECOND: '1',
      RATE_LIMIT_BURST: '5',
      RATE_LIMIT_AUTH_PER_MINUTE: '3',
    });
  });
  afterAll(() => limited.stop());

  test('serves each key up to its limit, reports the remaining requests, then answers 429', async () => {
    const api = createApi({ baseUrl: limited.baseUrl, apiKey: shop.key });
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.send('GET', '/v1/merchants/me')));
    await api.close();
    const served = answers.filter(({ status }) => status === 200);
    const limitedAnswers = answers.filter(({ status }) => status === 429);
    expect(served.length).toBeGreaterThanOrEqual(5);
    expect(limitedAnswers.length).toBeGreaterThanOrEqual(1);
    expect(served.length + limitedAnswers.length).toBe(12);
    for (const { headers } of answers) {
      expect(headers['ratelimit-limit']).toBe('5');
      expect(Number(headers['ratelimit-remaining'])).toBeLessThan(5);
      expect(headers['ratelimit-reset']).toMatch(/^\d+$/);
    }
    for (const answer of limitedAnswers) {
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(refusalOf(answer)).toEqual({
        error: 'Rate limit exceeded',
        message: 'Too many requests. Please try again later.',
        statusCode: 429,
        code: 'rate_limited',
        request_id: expect.any(String),
      });
    }
  });

  test('limits failed authentication per address and still serves valid keys', async () => {
    const guesser = createApi({ baseUrl: limited.baseUrl, apiKey: `ak_sandbox_${'x'.repeat(64)}` });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await guesser.send('GET', '/v1/merchants/me')).status);
    await guesser.close();
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401]);
    expect(statuses.at(-1)).toBe(429);
    const good = createApi({ baseUrl: limited.baseUrl, apiKey: stack.apiKey });
    expect((await good.send('GET', '/v1/merchants/me')).status).toBe(200);
    await good.close();
  });
});

test('a production gateway has no debug endpoints and refuses sandbox keys', async () => {
  const production = await startExtraGateway(stack, {
    ENVIRONMENT: 'production',
    WEBHOOK_ALLOW_LOCAL: 'false',
    TEST_WALLET_URL: '',
    DATABASE_URL: await createDatabase(),
  });
  try {
    const api = createApi({ baseUrl: production.baseUrl, apiKey: shop.key });
    for (const path of ['/debug/register-payment', '/debug/test-webhook'])
      expect(await api.send('POST', path, { body: {} })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await api.send('GET', '/v1/merchants/me')).status).toBe(401);
    expect((await api.send('GET', '/health')).status).toBe(200);
    await api.close();
  } finally {
    await production.stop();
  }
});

/** Creates a database beside the one of the stack, which belongs to a sandbox. It goes with the stack. */
const createDatabase = async (): Promise<string> => {
  const name = `production_${process.pid}`;
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query(`create database ${name}`).finally(() => client.end());
  const url = new URL(stack.databaseUrl);
  url.pathname = `/${name}`;
  return url.toString();
};
