import type { ErrorBody, Order } from '@cpg/contracts';
import { createApi, type Method, refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/shared-stack.ts';

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

const refusalTo = async (method: Method, path: string, body?: unknown, headers?: Record<string, string>) => {
  const answer = await shop.api.send(method, path, { body, ...(headers && { headers }) });
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.headers['x-request-id']).toBe(refusalOf(answer).request_id);
  return refusalOf(answer);
};
const pathsOf = ({ details }: ErrorBody) => (details ?? []).map(({ path }) => path);

const line = item('1', 'USD');
const expectRefused = async (changes: Record<string, unknown>, path: string) => {
  const refusal = await refusalTo('POST', '/v1/orders', { ...orderBody(), ...changes });
  expect(refusal).toMatchObject({ error: 'Bad Request', statusCode: 400, code: 'invalid_request' });
  expect(pathsOf(refusal)).toContain(path);
};

describe('an order is refused, naming the field of its items, for', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no items', { items: [] }, 'items'],
    ['101 items', { items: Array(101).fill(line) }, 'items'],
    ['21 modifiers', { items: [{ ...line, modifiers: Array(21).fill(line) }] }, 'items.0.modifiers'],
    ['a quantity of 0', { items: [{ ...line, quantity: 0 }] }, 'items.0.quantity'],
    ['a negative quantity', { items: [{ ...line, quantity: -1 }] }, 'items.0.quantity'],
    ['a quantity above a million', { items: [{ ...line, quantity: 1_000_000.000001 }] }, 'items.0.quantity'],
    ['seven decimals of a quantity', { items: [{ ...line, quantity: 0.0000001 }] }, 'items.0.quantity'],
    ['a quantity that is a string', { items: [{ ...line, quantity: '1' }] }, 'items.0.quantity'],
    ['a signed price', { items: [{ ...line, unit_price: '+1' }] }, 'items.0.unit_price'],
    ['an exponent', { items: [{ ...line, unit_price: '1e3' }] }, 'items.0.unit_price'],
    ['a leading zero', { items: [{ ...line, unit_price: '01' }] }, 'items.0.unit_price'],
    ['a space', { items: [{ ...line, unit_price: ' 1' }] }, 'items.0.unit_price'],
    ['19 digits before the point', { items: [{ ...line, unit_price: '1'.repeat(19) }] }, 'items.0.unit_price'],
    ['a fraction of a cent', { items: [{ ...line, unit_price: '0.001' }] }, 'items.0.unit_price'],
    ['a price that is a number', { items: [{ ...line, unit_price: 1 }] }, 'items.0.unit_price'],
    ['an item in BTC', { items: [{ ...line, currency: 'BTC' }] }, 'items.0.currency'],
  ])('%s', (_, changes, path) => expectRefused(changes, path));
});

describe('an order is refused, naming the field, for', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['a currency in lower case', { payment_currency: 'usdt' }, 'payment_currency'],
    ['a payment in MXN', { payment_currency: 'MXN' }, 'payment_currency'],
    ['no rail', { enable_rails: [] }, 'enable_rails'],
    ['a rail twice', { enable_rails: ['gateway_pay', 'gateway_pay'] }, 'enable_rails'],
    ['an unknown rail', { enable_rails: ['cash'] }, 'enable_rails.0'],
    ['a total of 0', { items: [{ ...line, unit_price: '0' }] }, 'items'],
    ['an empty reference', { external_reference_id: '' }, 'external_reference_id'],
    ['a reference of 129 characters', { external_reference_id: 'x'.repeat(129) }, 'external_reference_id'],
    ['four minutes', { expiration_minutes: 4 }, 'expiration_minutes'],
    ['more than thirty days', { expiration_minutes: 43_201 }, 'expiration_minutes'],
    ['half a minute', { expiration_minutes: 5.5 }, 'expiration_minutes'],
    ['metadata that is a list', { metadata: [] }, 'metadata'],
    ['metadata over 16 KiB', { metadata: { x: 'x'.repeat(16 * 1024) } }, 'metadata'],
    ['a missing capability', { capabilities: { can_cancel: true } }, 'capabilities.can_update'],
    [
      'a capability that is not a boolean',
      { capabilities: { ...orderBody().capabilities, can_cancel: 'yes' } },
      'capabilities.can_cancel',
    ],
    ['an unknown field', { customer: 'x' }, 'customer'],
    ['an unknown field of an item', { items: [{ ...line, sku: 'x' }] }, 'items.0.sku'],
    [
      'a total with more than 18 integer digits',
      { items: [{ ...line, unit_price: '9'.repeat(18), quantity: 2 }] },
      'items',
    ],
  ])('%s', (_, changes, path) => expectRefused(changes, path));

  test('all invalid fields at once', async () => {
    const refusal = await refusalTo('POST', '/v1/orders', {
      external_reference_id: 7,
      items: [{ name: '', quantity: 0, unit_price: 'x', currency: 'YEN', sku: 1 }],
      enable_rails: ['cash'],
      payment_currency: 'XRP',
      capabilities: null,
      expiration_minutes: 1,
      what: true,
    });
    expect(pathsOf(refusal).sort()).toEqual([
      'capabilities',
      'enable_rails.0',
      'expiration_minutes',
      'external_reference_id',
      'items.0.currency',
      'items.0.name',
      'items.0.quantity',
      'items.0.sku',
      'items.0.unit_price',
      'payment_currency',
      'what',
    ]);
    for (const { message } of refusal.details!) expect(message).toMatch(/\w/);
  });

  test('all missing fields at once', async () => {
    expect(pathsOf(await refusalTo('POST', '/v1/orders', {})).sort()).toEqual([
      'capabilities',
      'enable_rails',
      'external_reference_id',
      'items',
      'payment_currency',
    ]);
  });

  test('a refused order is not stored', async () => {
    const reference = 'refused';
    await refusalTo('POST', '/v1/orders', { ...orderBody({ external_reference_id: reference }), extra: 1 });
    expect((await shop.api.orders({ external_reference_id: reference })).total).toBe(0);
  });
});

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
  const expected = (resource: string) => ({
    error: 'Not Found',
    message: `no ${resource} has this id`,
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
    for (const id of [unknown.order, 'nonsense', unknown.payment, '%00', foreign.id, `${order.id}x`]) {
      for (const [method, command] of operations) {
        const body = method === 'PATCH' ? { metadata: {} } : undefined;
        expect(await refusalTo(method, `/v1/orders/${id}${command}`, body)).toEqual(expected('order'));
      }
    }
    expect(await other.api.order(foreign.id)).toEqual(foreign);
  });

  test('an unknown payment, a malformed id and a payment of another merchant', async () => {
    const [mine] = order.payments;
    for (const id of [unknown.payment, 'nonsense', unknown.order]) {
      expect(await refusalTo('GET', `/v1/payments/${id}`)).toEqual(expected('payment'));
    }
    const answer = await other.api.send('GET', `/v1/payments/${mine!.id}`);
    expect(refusalOf(answer)).toEqual(expected('payment'));
  });

  test('a payment for an order of another merchant', async () => {
    const body = { order_id: order.id, payment_rail: 'gateway_pay', amount: '1', currency: 'USDT' };
    const answer = await other.api.send('POST', '/debug/register-payment', { body });
    expect(refusalOf(answer)).toEqual(expected('order'));
    expect(await shop.api.order(order.id)).toEqual(order);
  });

  test('an unknown path', async () => {
    for (const path of ['/v1/refunds', '/nothing', '/debug/nothing']) {
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
