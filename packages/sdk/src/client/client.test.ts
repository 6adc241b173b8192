import { createClient } from './client.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { BODY, clientWith, failureOf, json, refusal } from './testing/jest-gateway.ts';

const ORDER = { id: 'ord_1', status: 'awaiting_payment' };

test('a method sends the parameters of the path, the body and the query to its operation', async () => {
  const { client, sent } = clientWith([json(201, ORDER), json(200, ORDER), json(200, {})]);
  expect(await client.createOrder(BODY)).toEqual(ORDER);
  await client.getOrder('ord_1', { at: '2026-01-31T12:00:00Z' });
  await client.getDelivery('whk_1', 'dlv_/2', undefined, { headers: { 'x-trace': '7' } });
  expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['POST', '/v1/orders', '{"external_reference_id":"cart-1"}'],
    ['GET', '/v1/orders/ord_1?at=2026-01-31T12%3A00%3A00Z', ''],
    ['GET', '/v1/webhooks/whk_1/deliveries/dlv_%2F2', ''],
  ]);
  expect(sent[0]!.headers.get('x-api-key')).toBe('ak_sandbox_1');
  expect(sent[0]!.headers.get('content-type')).toBe('application/json');
  expect(sent[2]!.headers.get('x-trace')).toBe('7');
});

test.each(['table', 'a+b', 'R&D', 'a#b', 'a b', '50%', 'a[b]', 'mesa ñ'])(
  'a filter by metadata keeps its key: %s',
  async (key) => {
    const { client, sent } = clientWith([json(200, { items: [] })]);
    await client.listOrders({ metadata: `${key}=B&7+#`, status: ['paid', 'expired'], limit: 5, sort: undefined });
    const { search, hash } = new URL(sent[0]!.path, 'https://pay.example.com');
    expect([...new URLSearchParams(search), hash]).toEqual([
      ['metadata', `${key}=B&7+#`],
      ['status', 'paid'],
      ['status', 'expired'],
      ['limit', '5'],
      '',
    ]);
  },
);

test('a raw method returns the response beside the data', async () => {
  const { client } = clientWith([json(200, ORDER, { 'ratelimit-remaining': '199' })]);
  const { data, response } = await client.raw.getOrder('ord_1');
  expect([data, response.headers.get('ratelimit-remaining')]).toEqual([ORDER, '199']);
});

test('a refusal becomes an error with the code, the status, the id of the request and the details', async () => {
  const body = {
    error: 'Bad Request',
    message: 'items: is required',
    statusCode: 400,
    code: 'invalid_request',
    request_id: 'req_9',
    details: [{ path: 'items', message: 'is required' }],
  };
  const { client, sent } = clientWith([json(400, body)]);
  const error = await failureOf(client.createOrder(BODY));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    message: 'items: is required',
    code: 'invalid_request',
    status: 400,
    request_id: 'req_9',
    details: [{ path: 'items', message: 'is required' }],
    body,
  });
  expect(sent).toHaveLength(1);
});

test.each([
  ['an error page of a proxy', new Response('<h1>Bad gateway</h1>', { status: 404 }), 404],
  ['a page in place of an answer', new Response('<h1>Please log in</h1>', { status: 200 }), 200],
  ['a redirection, which could take the key to another host', new Response(null, { status: 302 }), 302],
])('%s is an unreadable answer', async (_, answer, status) => {
  const { client, sent } = clientWith([answer]);
  expect(await failureOf(client.getOrder('ord_1'))).toMatchObject({ code: 'unreadable_answer', status });
  expect(sent).toHaveLength(1);
});

test('refuses an empty id, which would be the path of the list', async () => {
  const { client, sent } = clientWith([]);
  await expect(client.deleteOrder('')).rejects.toThrow('deleteOrder: id must be a non-empty string');
  await expect(client.getOrder(undefined as never)).rejects.toThrow(TypeError);
  expect(sent).toEqual([]);
});

test.each([
  ['no options', undefined, 'baseUrl must be the address of the gateway'],
  ['no address', { apiKey: 'ak_sandbox_1' }, 'baseUrl must be the address of the gateway'],
  ['an address without a scheme', { baseUrl: 'pay.example.com' }, 'baseUrl must be the address of the gateway'],
  ['the path of the API', { baseUrl: 'https://pay.example.com/v1/' }, 'baseUrl must not end with /v1'],
  ['a key that is not set', { baseUrl: 'https://pay.example.com', apiKey: undefined }, 'apiKey is empty'],
  ['an empty key', { baseUrl: 'https://pay.example.com', apiKey: '' }, 'apiKey is empty'],
])('refuses %s with what to check', (_, options, message) => {
  const create = () => createClient(options as never);
  expect(create).toThrow(TypeError);
  expect(create).toThrow(message);
});

test('a value that JSON does not have is an error of the caller, and nothing is sent', async () => {
  const { client, sent } = clientWith([]);
  await expect(client.createOrder({ metadata: 1n } as never)).rejects.toThrow(TypeError);
  expect(sent).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['a misspelled option', { idempotency_key: 'cart-1' }, 'createOrder: idempotency_key is no option: the options are'],
  ['a key that is no object', 'cart-1', 'createOrder: options must be an object'],
])('%s is an error of the caller, and nothing is sent', async (_, options, message) => {
  const { client, sent } = clientWith([]);
  await expect(client.createOrder(BODY, options as never)).rejects.toThrow(message);
  expect(sent).toEqual([]);
});

test('a misspelled option of the client is an error of the caller', () => {
  expect(() => clientWith([], { timeout: 5 } as never)).toThrow('createClient: timeout is no option: the options are');
});

test('the message of a refusal has what the fixed texts of 401 and 403 leave out, once', async () => {
  const refusal = (status: number, more: object) => async () =>
    Response.json({ error: 'x', statusCode: status, request_id: 'req_1', ...more }, { status });
  const details = [{ path: 'items', message: 'is required' }];
  const { client } = clientWith([
    refusal(403, { code: 'insufficient_scope', message: 'Insufficient scope', required_scope: 'orders:self:read' }),
    refusal(400, { code: 'invalid_request', message: 'items: is required', details }),
    refusal(401, {
      ...{ code: 'unauthorized', message: 'Invalid API key provided' },
      details: [{ path: 'x-api-key', message: 'is missing' }],
    }),
  ]);
  await expect(client.getOrder('ord_1')).rejects.toMatchObject({
    message: 'Insufficient scope; the key needs orders:self:read',
    required_scope: 'orders:self:read',
  });
  await expect(client.getOrder('ord_1')).rejects.toMatchObject({ message: 'items: is required', details });
  await expect(client.getOrder('ord_1')).rejects.toMatchObject({
    message: 'Invalid API key provided; x-api-key: is missing',
  });
});

describe('time limits', () => {
  /** Answers as `fetch` does to a request that never gets an answer. */
  const hang = ({ signal }: Request) =>
    new Promise<Response>((_, fail) => {
      const end = () => fail(signal.reason as Error);
      if (signal.aborted) end();
      signal.addEventListener('abort', end);
    });

  test('an attempt ends at its time limit, and the next one gets its own', async () => {
    const { client, sent } = clientWith([hang, hang], { timeoutMs: 20, maxRetries: 1 });
    const error = await failureOf(client.createOrder(BODY, { idempotencyKey: 'cart-1' }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ reason: 'timeout', idempotency_key: 'cart-1' });
    expect(sent).toHaveLength(2);
  });

  test("the caller's signal ends the call with its own reason, and nothing is retried", async () => {
    const { client, sent } = clientWith([hang]);
    const controller = new AbortController();
    const call = failureOf(client.getOrder('ord_1', undefined, { signal: controller.signal }));
    const reason = new Error('the customer left');
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(sent.length).toBeLessThanOrEqual(1);
  });

  test('a call with a signal that was aborted before sends nothing', async () => {
    const { client, sent } = clientWith([]);
    const reason = new Error('too late');
    expect(await failureOf(client.getOrder('ord_1', undefined, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(sent).toEqual([]);
  });
});

test('an unknown code of a newer gateway is passed on', async () => {
  const { client } = clientWith([refusal(409, 'of_the_future')]);
  expect(await failureOf(client.cancelOrder('ord_1'))).toMatchObject({ code: 'of_the_future', status: 409 });
});
