import { ID_PREFIXES, type Order } from '@cpg/contracts';
import { createApi, type Headers, type Method, pathsOf, refusalOf, requestRefusal } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let other: Shop;
let order: Order;

beforeAll(async () => {
  [shop, other] = await Promise.all([openShop(stack), openShop(stack)]);
  order = await shop.api.pay({
    order_id: (await shop.api.createOrder(orderBody())).id,
    payment_rail: 'gateway_pay',
    amount: '4',
    currency: 'USDT',
  });
});
afterAll(() => Promise.all([shop.api.close(), other.api.close()]));

const refusalTo = (method: Method, path: string, body?: unknown, headers?: Headers) =>
  requestRefusal(shop.api, method, path, { body, ...(headers && { headers }) });

describe('a body is refused', () => {
  const json = { 'content-type': 'application/json' };
  test.each([
    ['broken JSON', '{"a": ', 400, 'invalid_request'],
    ['JSON that is not an object', '"order"', 400, 'invalid_request'],
    ['null', 'null', 400, 'invalid_request'],
    ['empty', '', 400, 'invalid_request'],
    [
      'text with a null character',
      JSON.stringify(orderBody({ external_reference_id: 'a\u0000b' })),
      400,
      'invalid_request',
    ],
    ['a deeply nested list', '['.repeat(50_000), 400, 'invalid_request'],
    ['a __proto__ member', '{"__proto__": {"x": 1}}', 400, 'invalid_request'],
    ['more than 256 KiB', `{"x": "${'x'.repeat(256 * 1024)}"}`, 413, 'payload_too_large'],
  ])('that is %s', async (_, body, statusCode, code) => {
    expect(await refusalTo('POST', '/v1/orders', body, json)).toMatchObject({ statusCode, code });
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'as %s',
    async (type) => {
      const refusal = await refusalTo('POST', '/v1/orders', 'a=1', { 'content-type': type });
      expect(refusal).toMatchObject({
        statusCode: 415,
        code: 'unsupported_media_type',
        error: 'Unsupported Media Type',
      });
    },
  );

  test('if the command takes none', async () => {
    const refusal = await refusalTo('POST', `/v1/orders/${order.id}/cancel`, { reason: 'x' });
    expect(refusal).toMatchObject({ statusCode: 400 });
    expect(pathsOf(refusal)).toEqual(['reason']);
    expect(await shop.api.order(order.id)).toEqual(order);
  });

  test.each([
    ['nothing to change', {}, 'body'],
    ['another field', { metadata: {}, status: 'paid' }, 'status'],
    ['one minute', { expiration_minutes: 1 }, 'expiration_minutes'],
  ])('of a change with %s', async (_, body, path) => {
    const refusal = await refusalTo('PATCH', `/v1/orders/${order.id}`, body);
    expect(pathsOf(refusal)).toEqual([path]);
  });
});

describe('the same 404 is returned for', () => {
  const expected = (resource: 'order' | 'payment') => ({
    error: 'Not Found',
    message: `no ${resource} has this id. The ${resource} may be deleted, or belong to another merchant. An id starts with "${ID_PREFIXES[resource]}_".`,
    statusCode: 404,
    code: 'not_found',
    request_id: expect.stringMatching(/^req_/),
  });
  const unknown = { order: 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV', payment: 'pay_01ARZ3NDEKTSV4RRFFQ69G5FAV' };

  test('an unknown order, a malformed id and an order of another merchant', async () => {
    const foreign = await other.api.createOrder(orderBody());
    const operations = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/cancel'],
      ['POST', '/capture'],
      ['PATCH', ''],
    ] as const;
    for (const id of [unknown.order, 'nonsense', '%00', foreign.id, `${order.id}x`]) {
      for (const [method, command] of operations) {
        const body = method === 'PATCH' ? { metadata: {} } : undefined;
        expect(await refusalTo(method, `/v1/orders/${id}${command}`, body)).toEqual(expected('order'));
      }
    }
    expect(await other.api.order(foreign.id)).toEqual(foreign);
  });

  test('an unknown payment, a malformed id and a payment of another merchant', async () => {
    const [mine] = order.payments;
    for (const id of [unknown.payment, 'nonsense']) {
      expect(await refusalTo('GET', `/v1/payments/${id}`)).toEqual(expected('payment'));
    }
    const answer = await other.api.send('GET', `/v1/payments/${mine!.id}`);
    expect(refusalOf(answer)).toEqual(expected('payment'));
  });

  test('the id of another kind, which the message names', async () => {
    const other404 = (resource: 'order' | 'payment', kind: string) => ({
      ...expected(resource),
      message: `no ${resource} has this id: it is the id of ${kind}`,
    });
    expect(await refusalTo('GET', `/v1/orders/${unknown.payment}`)).toEqual(other404('order', 'a payment'));
    expect(await refusalTo('GET', `/v1/payments/${unknown.order}`)).toEqual(other404('payment', 'an order'));
  });

  test('a payment for an order of another merchant', async () => {
    const body = { order_id: order.id, payment_rail: 'gateway_pay', amount: '1', currency: 'USDT' };
    const answer = await other.api.send('POST', '/debug/register-payment', { body });
    expect(refusalOf(answer)).toEqual(expected('order'));
    expect(await shop.api.order(order.id)).toEqual(order);
  });

  test('an unknown path', async () => {
    for (const path of ['/v1/refundings', '/nothing', '/debug/nothing']) {
      expect(await refusalTo('GET', path)).toMatchObject({ statusCode: 404, code: 'not_found', error: 'Not Found' });
    }
  });
});

test.each<[Method, () => string, string]>([
  ['PUT', () => `/v1/orders/${order.id}`, 'DELETE, GET, HEAD, PATCH'],
  ['POST', () => '/v1/payments', 'GET, HEAD'],
  ['DELETE', () => `/v1/payments/${order.payments[0]!.id}`, 'GET, HEAD'],
  ['GET', () => '/debug/register-payment', 'POST'],
])('%s is answered with 405 where it is not supported, and Allow lists the methods', async (method, path, allow) => {
  const answer = await shop.api.send(method, path());
  expect(answer.headers.allow).toBe(allow);
  expect(refusalOf(answer)).toMatchObject({ statusCode: 405, code: 'method_not_allowed', error: 'Method Not Allowed' });
});

describe('authentication comes before validation', () => {
  test('a request without a key gets 401 whatever is wrong with it', async () => {
    const anonymous = createApi({ baseUrl: stack.baseUrl });
    const answers = await Promise.all([
      anonymous.send('POST', '/v1/orders', { body: { broken: true } }),
      anonymous.send('POST', '/v1/orders', { body: '{', headers: { 'content-type': 'text/plain' } }),
      anonymous.send('GET', '/v1/orders/nonsense'),
      anonymous.send('GET', '/v1/orders?page=0'),
    ]);
    await anonymous.close();
    for (const answer of answers) {
      expect(refusalOf(answer)).toMatchObject({
        error: 'Unauthorized',
        message: 'Invalid API key provided',
        statusCode: 401,
        code: 'unauthorized',
      });
    }
  });
});
