import type { Client } from './client.ts';
import { type Answer, BODY, clientWith, failureOf, json, refusal } from './testing/jest-gateway.ts';

const OK = () => json(200, { id: 'ord_1' });
const lost = () => new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });

const CALLS: Record<string, (client: Client) => PromiseLike<unknown>> = {
  GET: (client) => client.getOrder('ord_1'),
  PUT: (client) => client.replacePaymentPageSettings({}),
  DELETE: (client) => client.deleteOrder('ord_1'),
  'POST with a key': (client) => client.createOrder(BODY),
  PATCH: (client) => client.updateOrder('ord_1', { metadata: {} }),
  'POST without a key': (client) => client.testWebhook({ webhook_id: 'whk_1', event_type: 'order:paid' }),
};
const REPEATABLE = ['GET', 'PUT', 'DELETE', 'POST with a key'];
const OTHERS = ['PATCH', 'POST without a key'];

test.each(REPEATABLE)('%s is retried after a lost connection and after every 5xx', async (call) => {
  for (const fault of [lost, () => refusal(500, 'internal_error'), () => refusal(503, 'outcome_unknown')]) {
    const { client, sent } = clientWith([fault(), OK()]);
    await CALLS[call]!(client);
    expect(sent).toHaveLength(2);
  }
});

test.each(OTHERS)('%s is not retried where it may have taken effect', async (call) => {
  for (const fault of [lost, () => refusal(500, 'internal_error'), () => refusal(503, 'outcome_unknown')]) {
    const { client, sent } = clientWith([fault()]);
    expect(await failureOf(CALLS[call]!(client))).toBeInstanceOf(Error);
    expect(sent).toHaveLength(1);
  }
});

test.each([...REPEATABLE, ...OTHERS])('%s is retried after a refusal that did nothing', async (call) => {
  for (const [status, code] of [
    [429, 'rate_limited'],
    [503, 'overloaded'],
    [503, 'dependency_unavailable'],
    [503, 'rate_unavailable'],
    [409, 'concurrent_update'],
    [408, 'request_timeout'],
  ] as const) {
    const { client, sent } = clientWith([refusal(status, code), OK()]);
    await CALLS[call]!(client);
    expect(sent).toHaveLength(2);
  }
});

test.each([
  [400, 'invalid_request'],
  [401, 'unauthorized'],
  [404, 'not_found'],
  [409, 'order_state_conflict'],
  [409, 'replay_running'],
  [422, 'idempotency_key_reused'],
])('a refusal with %i %s is not retried', async (status, code) => {
  const { client, sent } = clientWith([refusal(status, code)]);
  expect(await failureOf(client.createOrder(BODY))).toMatchObject({ code });
  expect(sent).toHaveLength(1);
});

test('a POST has one key for all its attempts and another for the next call', async () => {
  const { client, sent } = clientWith([lost(), refusal(409, 'idempotency_key_in_use'), OK(), OK()]);
  await client.createOrder(BODY);
  await client.createOrder(BODY);
  const [first, second, third, next] = sent.map(({ key }) => key);
  expect(first).toMatch(/^[\x21-\x7e]{20,255}$/);
  expect([second, third]).toEqual([first, first]);
  expect(next).not.toBe(first);
  expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
});

test('a POST keeps the key of the caller; other methods and the sandbox have none', async () => {
  const { client, sent } = clientWith([OK(), OK(), OK()]);
  await client.createOrder(BODY, { idempotencyKey: 'cart-1' });
  await client.getOrder('ord_1');
  await CALLS['POST without a key']!(client);
  expect(sent.map(({ key }) => key)).toEqual(['cart-1', null, null]);
});

test('without a global WebCrypto, as in Node.js 18, keys differ too', async () => {
  const { crypto } = globalThis;
  Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true });
  try {
    const { client, sent } = clientWith([OK(), OK()]);
    await client.createOrder(BODY);
    await client.createOrder(BODY);
    expect(sent[0]!.key).toMatch(/^[a-z0-9]+-[a-z0-9]{24}$/);
    expect(sent[1]!.key).not.toBe(sent[0]!.key);
  } finally {
    Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
  }
});

describe('waits', () => {
  const waitsFor = async (faults: readonly Answer[], options = {}) => {
    const { client, waits } = clientWith([...faults, OK()], { maxRetries: 9, ...options });
    const error = await failureOf(client.getOrder('ord_1'));
    return { waits, error };
  };

  test('they double up to eight seconds', async () => {
    const { waits } = await waitsFor(Array.from({ length: 6 }, lost));
    expect(waits).toEqual([375, 750, 1_500, 3_000, 6_000, 6_000]);
  });

  test.each([
    ['seconds', '7', 7_000],
    ['a date', 'Sat, 31 Jan 2026 12:00:30 GMT', 30_000],
    ['a date in the past', 'Sat, 31 Jan 2026 11:00:00 GMT', 375],
    ['nonsense', 'soon', 375],
    ['less than planned', '0', 375],
  ])('Retry-After with %s', async (_, header, wait) => {
    const { waits } = await waitsFor([refusal(429, 'rate_limited', { 'retry-after': header })]);
    expect(waits).toEqual([wait]);
  });

  test('a longer Retry-After than the limit is an error at once', async () => {
    const { waits, error } = await waitsFor([refusal(503, 'overloaded', { 'retry-after': '61' })]);
    expect([waits, (error as { code?: string }).code]).toEqual([[], 'overloaded']);
    const patient = await waitsFor([refusal(503, 'overloaded', { 'retry-after': '61' })], { maxRetryAfterMs: 61_000 });
    expect(patient).toEqual({ waits: [61_000], error: 'none' });
  });

  test('the limit of Retry-After is none for the waits without one', async () => {
    const { waits, error } = await waitsFor([lost(), lost()], { maxRetryAfterMs: 0 });
    expect({ waits, error }).toEqual({ waits: [375, 750], error: 'none' });
  });

  test.each([
    ['by default', {}, 3, [1_000, 3_250, 13_000]],
    ['with one retry', { maxRetries: 1 }, 1, [13_000]],
    ['with many retries', { maxRetries: 6 }, 6, [1_000, 1_000, 1_500, 3_000, 6_000, 13_000]],
  ])('a request that is still running gets time to end: %s', async (_, options, count, expected) => {
    const answers = Array.from({ length: count }, () => refusal(409, 'idempotency_key_in_use', { 'retry-after': '1' }));
    const { client, waits } = clientWith([...answers, OK()], options);
    await client.createOrder(BODY);
    expect(waits).toEqual(expected);
  });

  test('after the last retry the last error is thrown, with the key that the call had', async () => {
    const { client, sent } = clientWith([lost(), lost(), lost(), lost()]);
    const error = await failureOf(client.createOrder(BODY));
    expect(sent).toHaveLength(4);
    expect(error).toMatchObject({
      name: 'ConnectionError',
      reason: 'network',
      message: 'POST https://pay.example.com/v1/orders: read ECONNRESET',
      idempotency_key: sent[0]!.key,
    });
  });

  test.each([
    ['a running request with the key', () => refusal(409, 'idempotency_key_in_use')],
    ['an unknown outcome', () => refusal(503, 'outcome_unknown')],
    ['a fault of the gateway', () => refusal(500, 'internal_error')],
    ['an unreadable answer', () => new Response('<h1>Please log in</h1>', { status: 200 })],
  ])('%s as the last error has the key that the call had', async (_, answer) => {
    const { client, sent } = clientWith([answer()], { maxRetries: 0 });
    const error = await failureOf(client.createOrder(BODY));
    expect(sent[0]!.key).toMatch(/./);
    expect(error).toMatchObject({ name: 'ApiError', idempotency_key: sent[0]!.key });
  });

  test('a call can have its own number of retries', async () => {
    const { client, sent } = clientWith([lost()]);
    expect(await failureOf(client.getOrder('ord_1', undefined, { maxRetries: 0 }))).toBeInstanceOf(Error);
    expect(sent).toHaveLength(1);
  });
});
