import { Order } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderBody, ordersResponse } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.orders.calls.length = 0;
  gateway.orders.respond = ordersResponse;
});

describe('creating an order', () => {
  test('sends the order with a new id to the orders service, and returns 201 with the order', async () => {
    const { status, body } = await shop.send('POST', '/v1/orders', orderBody());
    expect(status).toBe(201);
    expect(Order.parse(body)).toEqual(body);
    const [call] = gateway.orders.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/orders' });
    expect(call?.body).toEqual({ order_id: body.id, merchant_id: shop.id, order: orderBody() });
    expect(call?.headers).toMatchObject({ 'x-actor': `key:${shop.key.slice('ak_sandbox_'.length).slice(0, 12)}` });
  });

  test.each([
    ['an unknown field', { unknown_field: 1 }, 'unknown_field'],
    ['a currency that does not exist', { payment_currency: 'DOGE' }, 'payment_currency'],
    ['no rail', { enable_rails: [] }, 'enable_rails'],
    ['a rail twice', { enable_rails: ['gateway_pay', 'gateway_pay'] }, 'enable_rails'],
    [
      'a rail that does not support the currency for this merchant',
      { payment_currency: 'BTC', enable_rails: ['gateway_pay'] },
      'enable_rails.0',
    ],
    ['a currency that the merchant does not accept', { payment_currency: 'CAZ' }, 'enable_rails.0'],
    [
      'a price with too many decimals',
      { items: [{ name: 'x', quantity: 1, unit_price: '1.001', currency: 'USD' }] },
      'items.0.unit_price',
    ],
    [
      'a quantity of zero',
      { items: [{ name: 'x', quantity: 0, unit_price: '1', currency: 'USD' }] },
      'items.0.quantity',
    ],
    ['NUL characters', { external_reference_id: 'a\0b' }, 'external_reference_id'],
    ['a lone surrogate', { external_reference_id: '\ud800' }, 'external_reference_id'],
    ['NUL characters in a field name', { metadata: { 'a\0b': 1 } }, 'metadata'],
    ['a return URL that is not https', { return_url: 'http://shop.example/thanks' }, 'return_url'],
    [
      'a return URL with more than 2048 characters',
      { return_url: `https://shop.example/${'a'.repeat(2028)}` },
      'return_url',
    ],
    ['a cancel URL that is a script', { cancel_url: 'javascript:alert(1)' }, 'cancel_url'],
    ['a cancel URL with credentials', { cancel_url: 'https://a:b@shop.example/' }, 'cancel_url'],
    ['an expiration below five minutes', { expiration_minutes: 4 }, 'expiration_minutes'],
  ])('returns 400 for %s with the path of the field', async (_, overrides, path) => {
    const { status, body } = await shop.send('POST', '/v1/orders', { ...orderBody(), ...overrides });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(gateway.orders.calls).toHaveLength(0);
  });

  test.each([
    ['malformed JSON', '{"a":', 400],
    ['empty', '', 400],
    ['a JSON array', '[]', 400],
    ['an object with __proto__', '{"__proto__": {"a": 1}}', 400],
    ['nested too deeply', `{"metadata": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400],
    ['larger than 256 KiB', `{"metadata": "${'x'.repeat(257 * 1024)}"}`, 413],
  ])('refuses a body that is %s', async (_, rawBody, expected) => {
    const { status, body } = await shop.send('POST', '/v1/orders', rawBody, { 'content-type': 'application/json' });
    expect(status).toBe(expected);
    expect(body).toMatchObject({ statusCode: expected, request_id: expect.stringMatching(/^req_/) });
  });

  test('returns 415 for a content type other than JSON', async () => {
    expect((await shop.send('POST', '/v1/orders', 'a=1', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('passes through an error response from the orders service', async () => {
    gateway.orders.respond = () => errorResponse(503, 'rate_unavailable', 'no fresh rate for ARS');
    const { status, body, headers } = await shop.send('POST', '/v1/orders', orderBody());
    expect({ status, code: body.code, message: body.message }).toEqual({
      status: 503,
      code: 'rate_unavailable',
      message: 'no fresh rate for ARS',
    });
    expect(headers['retry-after']).toBe('1');
  });
});

describe('commands on an order', () => {
  const id = `ord_${newUlid()}`;

  test.each([
    ['POST', `/orders/${id}/cancel`, undefined, 201],
    ['POST', `/orders/${id}/capture`, {}, 201],
    ['POST', `/orders/${id}/accept`, { reason: 'close enough' }, 201],
    ['PATCH', `/orders/${id}`, { metadata: { a: 1 } }, 200],
    ['DELETE', `/orders/${id}`, undefined, 200],
  ] as const)('forwards %s %s to the orders service with the merchant id', async (method, path, body, status) => {
    expect((await shop.send(method, `/v1${path}`, body)).status).toBe(status);
    expect(gateway.orders.calls).toEqual([expect.objectContaining({ method, path })]);
    expect(gateway.orders.calls[0]?.body).toMatchObject({ merchant_id: shop.id });
  });

  test('accepts an empty body with a JSON content type', async () => {
    const response = await shop.send('POST', `/v1/orders/${id}/cancel`, '', { 'content-type': 'application/json' });
    expect(response.status).toBe(201);
  });

  test('refuses a field in the body of a cancel request', async () => {
    const { status, body } = await shop.send('POST', `/v1/orders/${id}/cancel`, { unknown_field: 'x' });
    expect(status).toBe(400);
    expect(body.details[0].path).toBe('unknown_field');
  });

  test('a malformed order id and an unknown order id return the same 404', async () => {
    gateway.orders.respond = () => errorResponse(404, 'not_found', 'there is no such order');
    const withoutRequestId = ({ request_id: _, ...body }: Record<string, unknown>) => body;
    const unknown = await shop.send('POST', `/v1/orders/${id}/cancel`);
    const malformed = await shop.send('POST', '/v1/orders/..%2F..%2Fx/cancel');
    expect(unknown.status).toBe(404);
    expect(malformed.status).toBe(404);
    expect(withoutRequestId(malformed.body)).toEqual(withoutRequestId(unknown.body));
    expect(gateway.orders.calls).toEqual([expect.objectContaining({ path: `/orders/${id}/cancel` })]);
  });
});
