import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '@cpg/contracts';
import type { Query } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const ORDERS = 23;

const stack = sharedStack();
let shop: Shop;
let empty: Shop;
/** Oldest first. */
let orders: Order[];

beforeAll(async () => {
  [shop, empty] = await Promise.all([openShop(stack), openShop(stack)]);
  orders = [];
  for (let n = 0; n < ORDERS; n += 1) {
    const currency = n % 2 === 0 ? 'USDT' : 'BTC';
    const created = await shop.api.createOrder(
      orderBody({ external_reference_id: `cart-${n % 5}`, payment_currency: currency, items: [item('50', 'USD')] }),
    );
    const change = { order_id: created.id, payment_rail: 'gateway_pay', currency } as const;
    if (n % 3 === 0) orders.push(await shop.api.pay({ ...change, amount: created.total_amount }));
    else if (n % 3 === 1) orders.push(await shop.api.cancel(created.id));
    else orders.push(created);
    // Distinct creation times, in milliseconds, so that they alone decide the order of the list.
    await sleep(2);
  }
});
afterAll(() => Promise.all([shop.api.close(), empty.api.close()]));

const idsOf = async (query: Query) => (await shop.api.orders(query)).items.map(({ id }) => id);

/** Reads all pages as the API reference says: until page >= totalPages. */
const readAllPages = async (query: Query) => {
  const items: Order[] = [];
  for (let page = 1; ; page += 1) {
    const found = await shop.api.orders({ ...query, page });
    expect(found).toMatchObject({ page, limit: query.limit ?? 10, count: found.items.length });
    items.push(...found.items);
    if (found.page >= found.totalPages) return items;
  }
};

describe('a list of orders', () => {
  test('contains each order once, newest first, as GET by id returns it', async () => {
    expect(await readAllPages({ limit: 4 })).toEqual([...orders].reverse());
    expect(await readAllPages({ limit: 7, sort: 'asc' })).toEqual(orders);
  });

  test('has ten items per page by default and reports the total', async () => {
    expect(await shop.api.orders()).toMatchObject({ page: 1, limit: 10, count: 10, total: ORDERS, totalPages: 3 });
    expect(await shop.api.orders({ page: 3 })).toMatchObject({ page: 3, count: 3, total: ORDERS, totalPages: 3 });
    expect(await shop.api.orders({ limit: 100 })).toMatchObject({ count: ORDERS, totalPages: 1 });
  });

  test('is empty past the last page', async () => {
    expect(await shop.api.orders({ page: 1000 })).toEqual({
      items: [],
      limit: 10,
      count: 0,
      total: ORDERS,
      page: 1000,
      totalPages: 3,
    });
  });

  test('of a merchant without orders has no pages', async () => {
    expect(await empty.api.orders()).toEqual({ items: [], limit: 10, count: 0, total: 0, page: 1, totalPages: 0 });
  });

  test('never contains orders of another merchant', async () => {
    expect((await empty.api.orders({ external_reference_id: 'cart-1' })).total).toBe(0);
    expect((await empty.api.payments()).total).toBe(0);
  });

  test.each([
    [{ status: 'paid' }, (order: Order) => order.status === 'paid'],
    [{ status: 'canceled' }, (order: Order) => order.status === 'canceled'],
    [{ status: 'awaiting_payment' }, (order: Order) => order.status === 'awaiting_payment'],
    [{ status: 'reversed' }, () => false],
    [{ currency: 'BTC' }, (order: Order) => order.currency === 'BTC'],
    [{ external_reference_id: 'cart-2' }, (order: Order) => order.external_reference_id === 'cart-2'],
    [{ external_reference_id: 'cart' }, () => false],
    [
      { status: 'paid', currency: 'USDT', external_reference_id: 'cart-1' },
      (order: Order) =>
        order.status === 'paid' && order.currency === 'USDT' && order.external_reference_id === 'cart-1',
    ],
  ])('filtered by %j contains exactly the matching orders', async (filter, matches) => {
    const expected = orders.filter(matches).reverse();
    const found = await shop.api.orders({ ...filter, limit: 100 });
    expect(found.items).toEqual(expected);
    expect(found.total).toBe(expected.length);
  });

  test('filtered by dates includes both limits, in any time zone', async () => {
    const [from, to] = [orders[5]!.created_at!, orders[9]!.created_at!];
    const between = orders.slice(5, 10).map(({ id }) => id);
    expect(await idsOf({ from_date: from, to_date: to, sort: 'asc' })).toEqual(between);
    const shifted = (instant: string) =>
      new Date(Date.parse(instant) + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
    expect(await idsOf({ from_date: shifted(from), to_date: shifted(to), sort: 'asc' })).toEqual(between);
    const afterLast = new Date(Date.parse(orders.at(-1)!.created_at!) + 1).toISOString();
    expect(await idsOf({ from_date: afterLast })).toEqual([]);
    expect(await idsOf({ from_date: to, to_date: from })).toEqual([]);
  });
});

test('an order is found by each form of a search, by its metadata, and its payment by references', async () => {
  const { api } = await openShop(stack);
  const created = await api.createOrder(
    orderBody({
      external_reference_id: 'invoice-1042',
      items: [item('17.25', 'USDT')],
      metadata: { table: 'B7', seat: 4 },
    }),
  );
  const deposit = created.deposit_instructions.find(({ rail }) => rail === 'crypto_deposit');
  if (deposit?.rail !== 'crypto_deposit') throw new Error('the order has no address');
  const txHash = `0x${'5c'.repeat(32)}`;
  const order = await api.pay({
    ...{ order_id: created.id, payment_rail: 'gateway_pay', currency: 'USDT', amount: '17.25', txHash },
  });
  const [payment] = order.payments;
  await api.createOrder(orderBody({ external_reference_id: 'other', metadata: { table: 'B8' } }));
  const queries = [
    ...[
      order.id,
      payment!.id,
      'invoice-1042',
      created.payment_reference!,
      deposit.address,
      deposit.address.toLowerCase(),
    ],
    ...[txHash, '17.25', '17.25 USDT'],
  ].map((search): Query => ({ search }));
  queries.push({ 'metadata.table': 'B7' }, { metadata: 'seat=4' }, { min_amount: '17', currency: 'USDT' });
  queries.push({ updated_from: order.updated_at, updated_to: order.updated_at });
  // The payments service learns of addresses and references by the events of orders.
  for (const query of queries)
    await until(`the order for ${JSON.stringify(query)}`, async () => {
      const { items, total } = await api.orders(query);
      return total === items.length && items.some(({ id }) => id === order.id) && items.length <= 2;
    });
  for (const query of queries.slice(0, -1)) expect((await api.orders(query)).items).toEqual([order]);
  const references = { external_reference_id: 'invoice-1042', payment_reference: created.payment_reference };
  for (const [name, value] of Object.entries({ ...references, tx_hash: txHash, order_id: order.id }))
    expect((await api.payments({ [name]: value })).items).toEqual([payment]);
  const { applied_at: appliedAt = '', updated_at: updatedAt } = payment!;
  expect(appliedAt >= payment!.created_at).toBe(true);
  const times = { applied_from: appliedAt, applied_to: appliedAt, updated_from: updatedAt, updated_to: updatedAt };
  expect(await api.payments(times)).toMatchObject({ items: [payment], total: 1 });
  for (const never of [{ refunded_from: appliedAt }, { failed_to: '2100-01-01T00:00:00Z' }])
    expect((await api.payments(never)).total).toBe(0);
  const several = await api.send('GET', '/v1/orders?status=paid&status=awaiting_payment');
  expect(several.body.total).toBe(2);
  await api.close();
});

describe('a list of payments', () => {
  test('contains the payments of the orders and filters by rail, currency and status', async () => {
    const expected = orders.flatMap(({ payments }) => payments).reverse();
    expect((await shop.api.payments({ limit: 100 })).items).toEqual(expected);
    const filters = [
      { payment_rail: 'gateway_pay' },
      { payment_rail: 'crypto_deposit' },
      { currency: 'BTC' },
      { status: 'applied' },
      { status: 'failed' },
    ];
    for (const filter of filters) {
      const { items, total } = await shop.api.payments({ ...filter, limit: 100 });
      const [name, value] = Object.entries(filter)[0]!;
      expect(items).toEqual(expected.filter((payment) => payment[name as keyof typeof payment] === value));
      expect(total).toBe(items.length);
    }
  });

  test('is paged, sorted and filtered by date like orders', async () => {
    const oldest = await shop.api.payments({ limit: 3, sort: 'asc' });
    expect(oldest).toMatchObject({ count: 3, total: 8, totalPages: 3, page: 1 });
    const { items } = await shop.api.payments({ to_date: oldest.items[1]!.created_at, sort: 'asc' });
    expect(items).toEqual(oldest.items.slice(0, 2));
    expect(await shop.api.payments({ page: 4, limit: 3 })).toMatchObject({ items: [], count: 0, total: 8 });
  });
});

describe('a list request is refused', () => {
  test.each([
    ['page=0', 'page'],
    ['page=1001', 'page'],
    ['page=1.5', 'page'],
    ['page=', 'page'],
    ['page=x', 'page'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['sort=newest', 'sort'],
    ['sort=ASC', 'sort'],
    ['from_date=2026-01-31', 'from_date'],
    ['from_date=2026-01-31T12:00:00', 'from_date'],
    ['to_date=yesterday', 'to_date'],
    ['to_date=2026-02-30T12:00:00Z', 'to_date'],
    ['status=open', 'status'],
    ['unknown=1', 'unknown'],
  ])('for %s, naming the parameter, of orders and of payments', async (query, name) => {
    for (const list of ['orders', 'payments']) {
      const answer = await shop.api.send('GET', `/v1/${list}?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.body.details.map(({ path }: { path: string }) => path)).toEqual([name]);
    }
  });

  test.each([
    ['orders', 'currency=MXN', 'currency'],
    ['orders', 'payment_rail=gateway_pay', 'payment_rail'],
    ['payments', 'payment_rail=cash', 'payment_rail'],
    ['payments', 'search=cart-1', 'search'],
    ['orders', 'search=ord_1', 'search'],
    ['orders', 'min_amount=1', 'min_amount'],
    ['deliveries', 'last_status_code=99', 'last_status_code'],
    ['webhooks', 'page=0', 'page'],
    ['webhooks', 'status=paid', 'status'],
  ])('of %s for %s', async (list, query, name) => {
    const answer = await shop.api.send('GET', `/v1/${list}?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.details.map(({ path }: { path: string }) => path)).toEqual([name]);
  });

  test('naming all invalid parameters at once', async () => {
    const answer = await shop.api.send('GET', '/v1/orders?page=0&limit=0&sort=up&from_date=now&what=1');
    expect(answer.body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'from_date',
      'limit',
      'page',
      'sort',
      'what',
    ]);
  });
});
