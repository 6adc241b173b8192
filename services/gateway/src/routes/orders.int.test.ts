import { Order } from '@cpg/contracts';
import { historyEntry } from '../openapi/examples.ts';
import { newSeed } from '../seed.ts';
import {
  orderBody,
  orderOf,
  ordersAnswer,
  projectOrder,
  startGateway,
  type TestGateway,
  type TestMerchant,
} from '../testing/jest-gateway.ts';
import { refusal } from '../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;
let other: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
  other = await gateway.merchant();
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.orders.calls.length = 0;
  gateway.orders.answer = ordersAnswer;
});

describe('creating an order', () => {
  test('hands it to the orders service under an id of ours, and answers 201 with the order', async () => {
    const { status, body } = await shop.send('POST', '/v1/orders', orderBody());
    expect(status).toBe(201);
    expect(Order.parse(body)).toEqual(body);
    const [call] = gateway.orders.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/orders' });
    expect(call?.body).toEqual({ order_id: body.id, merchant_id: shop.id, order: orderBody() });
    expect(call?.headers).toMatchObject({ 'x-actor': `key:${shop.key.slice('ak_sandbox_'.length).slice(0, 12)}` });
  });

  test.each([
    ['an unknown field', { surprise: 1 }, 'surprise'],
    ['a currency that does not exist', { payment_currency: 'DOGE' }, 'payment_currency'],
    ['no rail', { enable_rails: [] }, 'enable_rails'],
    ['a rail twice', { enable_rails: ['gateway_pay', 'gateway_pay'] }, 'enable_rails'],
    [
      'a rail that the merchant does not take in that currency',
      { payment_currency: 'BTC', enable_rails: ['gateway_pay'] },
      'enable_rails.0',
    ],
    ['a currency that the merchant does not take', { payment_currency: 'CAZ' }, 'enable_rails.0'],
    [
      'a price finer than its currency',
      { items: [{ name: 'x', quantity: 1, unit_price: '1.001', currency: 'USD' }] },
      'items.0.unit_price',
    ],
    [
      'a quantity of zero',
      { items: [{ name: 'x', quantity: 0, unit_price: '1', currency: 'USD' }] },
      'items.0.quantity',
    ],
    ['NUL characters', { external_reference_id: 'a\0b' }, 'external_reference_id'],
    ['half a surrogate pair', { external_reference_id: '\ud800' }, 'external_reference_id'],
    ['NUL characters in a name', { metadata: { 'a\0b': 1 } }, 'metadata'],
    ['an expiration below five minutes', { expiration_minutes: 4 }, 'expiration_minutes'],
  ])('refuses %s by name', async (_, more, path) => {
    const { status, body } = await shop.send('POST', '/v1/orders', { ...orderBody(), ...more });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(gateway.orders.calls).toHaveLength(0);
  });

  test.each([
    ['no JSON', '{"a":', 400],
    ['nothing', '', 400],
    ['a list', '[]', 400],
    ['a poisoned prototype', '{"__proto__": {"a": 1}}', 400],
    ['nesting without end', `{"metadata": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400],
    ['more than 256 KiB', `{"metadata": "${'x'.repeat(257 * 1024)}"}`, 413],
  ])('refuses a body that is %s', async (_, text, expected) => {
    const { status, body } = await shop.send('POST', '/v1/orders', text, { 'content-type': 'application/json' });
    expect(status).toBe(expected);
    expect(body).toMatchObject({ statusCode: expected, request_id: expect.stringMatching(/^req_/) });
  });

  test('refuses another media type', async () => {
    expect((await shop.send('POST', '/v1/orders', 'a=1', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('passes on what the orders service refuses', async () => {
    gateway.orders.answer = () => refusal(503, 'rate_unavailable', 'no fresh rate for ARS');
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
  const id = `ord_${newSeed()}`;

  test.each([
    ['POST', `/v1/orders/${id}/cancel`, undefined, 201, 'POST', `/orders/${id}/cancel`],
    ['POST', `/v1/orders/${id}/capture`, {}, 201, 'POST', `/orders/${id}/capture`],
    ['PATCH', `/v1/orders/${id}`, { metadata: { a: 1 } }, 200, 'PATCH', `/orders/${id}`],
    ['DELETE', `/v1/orders/${id}`, undefined, 200, 'DELETE', `/orders/${id}`],
  ] as const)(
    '%s %s goes to the orders service in the name of the merchant',
    async (method, url, body, status, as, path) => {
      expect((await shop.send(method, url, body)).status).toBe(status);
      expect(gateway.orders.calls).toEqual([expect.objectContaining({ method: as, path })]);
      expect(gateway.orders.calls[0]?.body).toMatchObject({ merchant_id: shop.id });
    },
  );

  test('an empty body with a content type is no body', async () => {
    const answer = await shop.send('POST', `/v1/orders/${id}/cancel`, '', { 'content-type': 'application/json' });
    expect(answer.status).toBe(201);
  });

  test('refuses a body where none is defined', async () => {
    expect((await shop.send('POST', `/v1/orders/${id}/cancel`, { why: 'x' })).body.details[0].path).toBe('why');
  });

  test('a malformed id and an unknown one are the same 404', async () => {
    gateway.orders.answer = () => refusal(404, 'not_found', 'there is no such order');
    const without = ({ request_id: _, ...body }: Record<string, unknown>) => body;
    const unknown = await shop.send('POST', `/v1/orders/${id}/cancel`);
    const malformed = await shop.send('POST', '/v1/orders/..%2F..%2Fx/cancel');
    expect(unknown.status).toBe(404);
    expect(without(malformed.body)).toEqual(without(unknown.body));
  });
});

describe('reading orders', () => {
  const at = (minute: number) => `2026-01-31T12:${String(minute).padStart(2, '0')}:00.000Z`;
  let reader: TestMerchant;
  let made: Order[];

  beforeAll(async () => {
    reader = await gateway.merchant();
    made = Array.from({ length: 25 }, (_, index) =>
      orderOf(`ord_${newSeed()}`, reader.id, {
        created_at: at(index),
        status: index % 2 ? 'paid' : 'awaiting_payment',
        external_reference_id: `ref-${index}`,
        currency: index < 3 ? 'BTC' : 'USDC',
      }),
    );
    for (const order of made) await projectOrder(gateway.pool, order);
    await projectOrder(gateway.pool, orderOf(`ord_${newSeed()}`, other.id));
  });

  test('shows an order as it is in the read model', async () => {
    expect((await reader.send('GET', `/v1/orders/${made[0]!.id}`)).body).toEqual(made[0]);
  });

  test("another merchant's order, a deleted, an unknown and a malformed id are one 404", async () => {
    const gone = orderOf(`ord_${newSeed()}`, reader.id);
    await projectOrder(gateway.pool, gone);
    await gateway.pool.query('update orders.orders set deleted = true, resource = null where id = $1', [gone.id]);
    const answers = await Promise.all([
      other.send('GET', `/v1/orders/${made[0]!.id}`),
      reader.send('GET', `/v1/orders/${gone.id}`),
      reader.send('GET', `/v1/orders/ord_${newSeed()}`),
      reader.send('GET', '/v1/orders/x%00y'),
    ]);
    expect(new Set(answers.map(({ body }) => JSON.stringify({ ...body, request_id: '' }))).size).toBe(1);
    expect(answers[0].status).toBe(404);
  });

  test('the history and the past of an order are for its merchant only', async () => {
    const { id } = made[0]!;
    for (const path of [`/v1/orders/${id}/history`, `/v1/orders/${id}?at=2026-01-31T12:00:00Z`]) {
      expect((await other.send('GET', path)).status).toBe(404);
      expect(gateway.orders.calls).toEqual([]);
    }
  });

  test('merges what orders and payments have recorded, as far as both have told', async () => {
    const entry = (n: number) => ({ ...historyEntry, sequence: n });
    const told = (places: number[], more: boolean) => ({
      status: 200,
      body: { messages: places.map((n) => ({ place: `p ${n}`, message: entry(n) })), more },
    });
    gateway.orders.answer = () => told([1, 4], true);
    gateway.payments.answer = () => told([2, 3, 5], false);
    const { body } = await reader.send('GET', `/v1/orders/${made[0]!.id}/history`);
    expect(body.items).toEqual([1, 2, 3, 4].map(entry));

    gateway.orders.answer = gateway.payments.answer = () => told([], false);
    const last = await reader.send('GET', `/v1/orders/${made[0]!.id}/history?after=${body.next}`);
    expect(last.body).toEqual({ items: [] });
    for (const { calls } of [gateway.orders, gateway.payments])
      expect(new URL(calls.at(-1)!.path, 'http://x').searchParams.get('after')).toBe('p 4');
  });

  test.each(['', '%00', 'cCA0=', 'AAAA', 'x'.repeat(129)])('a history after %j is refused by name', async (after) => {
    const { status, body } = await reader.send('GET', `/v1/orders/${made[0]!.id}/history?after=${after}`);
    expect([status, body.details?.[0]?.path]).toEqual([400, 'after']);
  });

  test.each([
    ['0000-01-01T00:00:00+12:00', '1970-01-01T00:00:00.000Z'],
    ['2026-01-31T12:00:00.1234+02:00', '2026-01-31T10:00:00.123Z'],
    ['9999-12-31T23:59:59-12:00', '9999-12-31T23:59:59.999Z'],
  ])('an order at %s is asked for at %s', async (at, asked) => {
    const then = { ...made[0]!, status: 'awaiting_payment' as const };
    gateway.orders.answer = () => ({ status: 200, body: then });
    const { body } = await reader.send('GET', `/v1/orders/${made[0]!.id}?at=${encodeURIComponent(at)}`);
    expect(body).toEqual(then);
    expect(new URL(gateway.orders.calls[0]!.path, 'http://x').searchParams.get('at')).toBe(asked);
  });

  test('an order that was not there yet is 404, and says so', async () => {
    gateway.orders.answer = () => refusal(404, 'not_found');
    const { status, body } = await reader.send('GET', `/v1/orders/${made[0]!.id}?at=2020-01-01T00:00:00Z`);
    expect([status, body.message]).toEqual([404, 'the order was not there yet']);
  });

  test('lists them newest first, ten to a page', async () => {
    const { body } = await reader.send('GET', '/v1/orders');
    expect({ ...body, items: body.items.map((order: Order) => order.id) }).toEqual({
      items: made
        .map((order) => order.id)
        .reverse()
        .slice(0, 10),
      limit: 10,
      count: 10,
      total: 25,
      page: 1,
      totalPages: 3,
    });
  });

  test('the last page holds the rest, and a page past the end nothing', async () => {
    const last = (await reader.send('GET', '/v1/orders?page=3&sort=asc')).body;
    expect(last.items.map((order: Order) => order.id)).toEqual(made.slice(20).map((order) => order.id));
    expect(last).toMatchObject({ count: 5, total: 25, totalPages: 3 });
    const past = (await reader.send('GET', '/v1/orders?page=1000&limit=100')).body;
    expect(past).toEqual({ items: [], limit: 100, count: 0, total: 25, page: 1000, totalPages: 1 });
  });

  test('a merchant without orders has no pages', async () => {
    const fresh = await gateway.merchant();
    expect((await fresh.send('GET', '/v1/orders')).body).toEqual({
      items: [],
      limit: 10,
      count: 0,
      total: 0,
      page: 1,
      totalPages: 0,
    });
  });

  test.each([
    ['status=paid', 12],
    ['currency=BTC', 3],
    ['external_reference_id=ref-7', 1],
    ['external_reference_id=ref', 0],
    [`from_date=${at(20)}`, 5],
    [`to_date=${at(4)}`, 5],
    [`from_date=${at(3)}&to_date=${at(3)}`, 1],
    ['from_date=2026-01-31T13:20:00%2B01:00', 5],
    ['from_date=0000-01-01T00:00:00Z&to_date=9999-12-31T23:59:59.999-14:00', 25],
    ['status=paid&currency=BTC', 1],
  ])('%s keeps %i', async (query, total) => {
    expect((await reader.send('GET', `/v1/orders?${query}`)).body).toMatchObject({ total });
  });

  test.each([
    'page=0',
    'page=1001',
    'page=1.5',
    'page=1e2',
    'page=',
    'page=1&page=2',
    'limit=0',
    'limit=101',
    'sort=up',
    'from_date=2026-01-31',
    'from_date=2026-01-31T12:00:00',
    'to_date=yesterday',
    'status=open',
    'currency=MXN',
    'external_reference_id=%00',
    'external_reference_id=',
    'surprise=1',
  ])('%s is refused by name', async (query) => {
    const { status, body } = await reader.send('GET', `/v1/orders?${query}`);
    expect(status).toBe(400);
    expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([query.split('=')[0]]);
  });

  test('a page or a limit out of range is told the range', async () => {
    const { body } = await reader.send('GET', '/v1/orders?page=0&limit=101');
    expect(body.details).toEqual([
      { path: 'page', message: 'must be a whole number from 1 to 1000' },
      { path: 'limit', message: 'must be a whole number from 1 to 100' },
    ]);
  });
});
