import type { Order } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, projectOrder } from '../../testing/jest-resources.ts';

const at = (minute: number) => `2026-01-31T12:${String(minute).padStart(2, '0')}:00.000Z`;

let gateway: TestGateway;
let reader: TestMerchant;
let other: TestMerchant;
let orders: Order[];

beforeAll(async () => {
  gateway = await startGateway();
  [reader, other] = [await gateway.merchant(), await gateway.merchant()];
  orders = Array.from({ length: 25 }, (_, index) =>
    orderOf(`ord_${newUlid()}`, reader.id, {
      created_at: at(index),
      status: index % 2 ? 'paid' : 'awaiting_payment',
      external_reference_id: `ref-${index}`,
      currency: index < 3 ? 'BTC' : 'USDC',
    }),
  );
  for (const order of orders) await projectOrder(gateway.pool, order);
  await projectOrder(gateway.pool, orderOf(`ord_${newUlid()}`, other.id));
});
afterAll(() => gateway.close());

test('returns an order from the read model', async () => {
  expect((await reader.send('GET', `/v1/orders/${orders[0]!.id}`)).body).toEqual(orders[0]);
});

test("returns the same 404 for another merchant's, a deleted, an unknown and a malformed id", async () => {
  const deleted = orderOf(`ord_${newUlid()}`, reader.id);
  await projectOrder(gateway.pool, deleted);
  await gateway.pool.query('update orders.orders set deleted = true, resource = null where id = $1', [deleted.id]);
  const answers = await Promise.all([
    other.send('GET', `/v1/orders/${orders[0]!.id}`),
    reader.send('GET', `/v1/orders/${deleted.id}`),
    reader.send('GET', `/v1/orders/ord_${newUlid()}`),
    reader.send('GET', '/v1/orders/x%00y'),
  ]);
  expect(new Set(answers.map(({ body }) => JSON.stringify({ ...body, request_id: '' }))).size).toBe(1);
  expect(answers[0].status).toBe(404);
});

test('lists orders newest first, ten per page', async () => {
  const { body } = await reader.send('GET', '/v1/orders');
  expect({ ...body, items: body.items.map((order: Order) => order.id) }).toEqual({
    items: orders
      .map((order) => order.id)
      .reverse()
      .slice(0, 10),
    limit: 10,
    count: 10,
    total: 25,
    page: 1,
    totalPages: 3,
    next_cursor: expect.any(String),
  });
});

test('a page links to the others, and is compressed for clients that accept it', async () => {
  const { headers } = await reader.send('GET', '/v1/orders?limit=10&page=2', undefined, { 'accept-encoding': 'gzip' });
  expect(headers).toMatchObject({
    'content-encoding': 'gzip',
    link: [
      ['/v1/orders?limit=10&page=1', 'first'],
      ['/v1/orders?limit=10&page=1', 'prev'],
      ['/v1/orders?limit=10&page=3', 'next'],
      ['/v1/orders?limit=10&page=3', 'last'],
    ]
      .map(([url, rel]) => `<${url}>; rel="${rel}"`)
      .join(', '),
  });
});

test('the last page has the remaining orders, a page past the end is empty', async () => {
  const last = (await reader.send('GET', '/v1/orders?page=3&sort=asc')).body;
  expect(last.items.map((order: Order) => order.id)).toEqual(orders.slice(20).map((order) => order.id));
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
])('%s matches %i orders', async (query, total) => {
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
])('returns 400 for %s with the name of the parameter', async (query) => {
  const { status, body } = await reader.send('GET', `/v1/orders?${query}`);
  expect(status).toBe(400);
  expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([query.split('=')[0]]);
});

describe('a cursor', () => {
  const QUERY = `status=paid&sort=asc&from_date=${at(2)}`;
  const cursorOf = async (query: string) =>
    (await reader.send('GET', `/v1/orders?${query}`)).body.next_cursor as string;

  test('leads from page to page, by the body or the link, with any limit', async () => {
    const expected = orders.filter(({ status }, index) => status === 'paid' && index >= 2).map(({ id }) => id);
    const first = await reader.send('GET', `/v1/orders?${QUERY}&limit=3`);
    const ids = first.body.items.map(({ id }: Order) => id);
    const [, link] = /<([^<>]+)>; rel="next"/.exec(String(first.headers.link))!;
    for (let url: string | undefined = link; url;) {
      const { body } = await reader.send('GET', url);
      expect(body).toMatchObject({ total: expected.length, page: 1 });
      ids.push(...body.items.map(({ id }: Order) => id));
      url = body.next_cursor && `/v1/orders?${QUERY}&limit=4&cursor=${body.next_cursor}`;
    }
    expect(ids).toEqual(expected);
  });

  test.each([
    ['another filter', QUERY.replace('paid', 'awaiting_payment')],
    ['no filter', 'sort=asc'],
    ['another sort order', QUERY.replace('asc', 'desc')],
    ['another date', QUERY.replace(at(2), at(3))],
    ['an additional filter', `${QUERY}&currency=USDC`],
  ])('is refused with %s', async (_, query) => {
    const cursor = await cursorOf(`${QUERY}&limit=1`);
    const { status, body } = await reader.send('GET', `/v1/orders?${query}&cursor=${cursor}`);
    expect([status, body.details[0].path]).toEqual([400, 'cursor']);
  });

  test('is refused if it is malformed, of another list or of another merchant, and with a page', async () => {
    const cursor = await cursorOf('limit=1');
    const place = Buffer.from(cursor, 'base64url').toString();
    const changed = Buffer.from(place.replace(/^\d/, '9')).toString('base64url');
    for (const wrong of ['x', 'undefined', `${cursor}a`, cursor.slice(1), changed, '%00', '']) {
      const { status, body } = await reader.send('GET', `/v1/orders?limit=1&cursor=${wrong}`);
      expect([wrong, status, body.details?.[0].path]).toEqual([wrong, 400, 'cursor']);
    }
    expect((await reader.send('GET', `/v1/payments?limit=1&cursor=${cursor}`)).status).toBe(400);
    expect((await other.send('GET', `/v1/orders?limit=1&cursor=${cursor}`)).status).toBe(400);
    const { body } = await reader.send('GET', `/v1/orders?limit=1&page=2&cursor=${cursor}`);
    expect(body.details).toEqual([{ path: 'page', message: 'cannot be used with `cursor`' }]);
  });
});

test('the error for page and limit contains the valid range', async () => {
  const { body } = await reader.send('GET', '/v1/orders?page=0&limit=101');
  expect(body.details).toEqual([
    { path: 'page', message: 'must be a whole number from 1 to 1000' },
    { path: 'limit', message: 'must be a whole number from 1 to 100' },
  ]);
});
