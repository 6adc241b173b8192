import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { listOrders, type OrderFilters } from '../orders/order-queries.ts';
import { listPayments, type PaymentFilters } from '../payments/payment-queries.ts';
import { listRefunds } from '../refunds/refund-routes.ts';

const ROWS = 2_400;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const MERCHANT = `mer_${newUlid()}`;

let gateway: TestGateway;

// Bursts of orders in a second, with equal times, and gaps of minutes, hours and weeks.
const CREATED_AT = `to_timestamp(${START / 1_000} + (n / 300) * 800000 + (n / 60 % 5) * 7000 + (n % 60 / 20) * 61 + n % 7 * 0.25)`;
// None of these columns follows from another: a query that forgets a filter returns other rows.
const STATUS = "(array['paid','paid','expired','canceled','awaiting_payment'])[1 + n * 7 % 11 % 5]";
const CURRENCY = "(array['USDC','USDC','BTC'])[1 + n * 5 % 13 % 3]";
const PAYMENT_STATUS = "(array['applied','failed','received'])[1 + n * 11 % 17 % 3]";
const RAIL = "(array['gateway_pay','crypto_deposit','crypto_deposit'])[1 + n % 3]";

beforeAll(async () => {
  gateway = await startGateway();
  const numbers = `generate_series(1, ${ROWS}) as n`;
  const id = (prefix: string) => `'${prefix}_' || lpad(((n * 7919) % 100003)::text, 26, '0')`;
  const resource = `json_build_object('n', n)`;
  for (const merchant of [MERCHANT, `mer_${newUlid()}`]) {
    const suffix = merchant === MERCHANT ? '' : ` || 'x'`;
    await gateway.pool.query(
      `insert into orders.orders (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource)
       select ${id('ord')}${suffix}, '${merchant}', 'ref-' || n % 40, ${STATUS}, ${CURRENCY}, ${CREATED_AT}, 0, ${resource} from ${numbers}`,
    );
    await gateway.pool.query(
      `insert into payments.payments (id, merchant_id, order_id, status, currency, payment_rail, due_back, created_at, revision, resource)
       select ${id('pay')}${suffix}, '${merchant}', 'ord_' || n % 40, ${PAYMENT_STATUS}, ${CURRENCY}, ${RAIL}, n % 7 = 0,
         ${CREATED_AT}, 0, ${resource} from ${numbers}`,
    );
    await gateway.pool.query(
      `insert into payments.refunds (id, payment_id, merchant_id, order_id, currency, created_at, resource)
       select ${id('ref')}${suffix}, 'pay_' || n % 40, '${merchant}', 'ord_' || n % 40, ${CURRENCY}, ${CREATED_AT}, ${resource} from ${numbers}`,
    );
  }
  // Triggers keep counts of the rows: they must also count changed and deleted rows correctly.
  await gateway.pool.query("update orders.orders set status = 'reversed' where (resource ->> 'n')::int % 17 = 0");
  await gateway.pool.query(
    "update orders.orders set deleted = true, resource = null where (resource ->> 'n')::int % 19 = 0",
  );
  await gateway.pool.query("update payments.payments set status = 'refunded' where (resource ->> 'n')::int % 17 = 0");
  await gateway.pool.query("delete from payments.refunds where (resource ->> 'n')::int % 23 = 0");
});
afterAll(() => gateway.close());

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

const DATES = [
  {},
  { from_date: new Date(START + 10 * DAY_MS) },
  { from_date: new Date(START + 9 * DAY_MS + 31_500), to_date: new Date(START + 60 * DAY_MS + 61_250) },
  { from_date: new Date(START + 60 * DAY_MS), to_date: new Date(START + 9 * DAY_MS) },
];
const PAGES = [
  { page: 1, limit: 10 },
  { page: 1, limit: 100 },
  { page: 20, limit: 33 },
  { page: 1_000, limit: 2 },
];

/** The rows of a page and the total, by the plainest statement. */
const expected = async (
  table: string,
  only: string,
  filters: Values,
  list: (typeof PAGES)[number],
  sort: string,
  dates: object,
) => {
  const { from_date: from = new Date(0), to_date: to = new Date('9999-12-31T23:59:59Z') } = dates as {
    from_date?: Date;
    to_date?: Date;
  };
  const active = Object.entries(filters).filter(([, value]) => value !== undefined);
  const where = [
    'merchant_id = $1',
    only,
    'created_at >= $2',
    'created_at <= $3',
    ...active.map(([name, value], index) => `${name}::text = ${Array.isArray(value) ? 'any' : ''}($${index + 4})`),
  ];
  const { rows } = await gateway.pool.query<{ total: number; items: { n: number }[] }>(
    `select (select count(*)::int from ${table} where ${where.join(' and ')}) as total, coalesce(json_agg(resource), '[]') as items
     from (select resource from ${table} where ${where.join(' and ')} order by created_at ${sort}, id ${sort}
       limit ${list.limit} offset ${(list.page - 1) * list.limit}) as page`,
    [MERCHANT, from, to, ...active.map(([, value]) => value)],
  );
  return rows[0]!;
};

/** The items as a response shows them. */
const parsed = (items: readonly unknown[]): unknown[] => JSON.parse(JSON.stringify(items)) as unknown[];

const LISTS = {
  orders: { table: 'orders.orders', only: 'not deleted', select: listOrders },
  payments: { table: 'payments.payments', only: 'not deleted', select: listPayments },
  refunds: { table: 'payments.refunds', only: 'true', select: listRefunds },
};

test.each<[keyof typeof LISTS, Values & OrderFilters & PaymentFilters]>([
  ['orders', {}],
  ['orders', { status: ['paid'] }],
  ['orders', { status: ['reversed'] }],
  ['orders', { status: ['paid', 'expired', 'initialized'] }],
  ['orders', { status: ['canceled', 'reversed'], currency: 'USDC' }],
  ['orders', { status: ['canceled', 'paid'], external_reference_id: 'ref-7' }],
  ['orders', { status: ['initialized'] }],
  ['orders', { currency: 'USDC' }],
  ['orders', { currency: 'BTC', status: ['paid'] }],
  ['orders', { external_reference_id: 'ref-7' }],
  ['orders', { external_reference_id: 'ref-7', status: ['paid'], currency: 'USDC' }],
  ['payments', {}],
  ['payments', { status: ['applied'] }],
  ['payments', { status: ['failed', 'refunded'], payment_rail: 'gateway_pay' }],
  ['payments', { currency: 'USDC' }],
  ['payments', { payment_rail: 'crypto_deposit' }],
  ['payments', { payment_rail: 'crypto_deposit', currency: 'USDC', status: ['failed'] }],
  ['payments', { status: ['refunded'], payment_rail: 'gateway_pay' }],
  ['payments', { order_id: 'ord_7', status: ['applied'] }],
  ['payments', { due_back: true }],
  ['payments', { due_back: false, currency: 'USDC' }],
  ['payments', { due_back: true, status: ['applied'], payment_rail: 'gateway_pay' }],
  ['refunds', {}],
  ['refunds', { currency: 'USDC' }],
  ['refunds', { order_id: 'ord_7', currency: 'USDC' }],
  ['refunds', { payment_id: 'pay_7' }],
  ['refunds', { status: ['recorded'] }],
  ['refunds', { status: ['pending', 'sent'], currency: 'USDC' }],
])('%s filtered by %j: pages and totals are those of a plain statement', async (name, filters) => {
  const { table, only, select } = LISTS[name];
  for (const dates of DATES) {
    for (const sort of ['desc', 'asc'] as const) {
      for (const list of PAGES) {
        const page = await select(gateway.pool, MERCHANT, { ...filters, ...list, ...dates, sort });
        const { total, items } = await expected(table, only, filters, list, sort, dates);
        expect({ ...list, sort, ...dates, total: page.total, items: parsed(page.items) }).toEqual({
          ...list,
          sort,
          ...dates,
          total,
          items,
        });
        expect(page).toMatchObject({ ...list, count: items.length, totalPages: Math.ceil(total / list.limit) });
      }
    }
  }
});

// Such a total is a sum of stored counts, one for each day in UTC, and of the rows at both ends of the range.
test('a total is exact wherever its range starts and ends in a day', async () => {
  // In the middle of the bursts, each at another time of the day.
  const ranges = Array.from({ length: 60 }, (_, n) => {
    const burst = START + ((n % 8) * 800_000 + (n % 5) * 7_000) * 1_000;
    return [burst + n * 1_250, burst + n * n * 367_000 + 61_250] as const;
  });
  // At midnight, with orders at just that time, and right before and after it.
  const midnights = [-1, 0, 1, DAY_MS - 1, DAY_MS, 20 * DAY_MS].map((ms) => START + ms);
  ranges.push(...midnights.flatMap((from) => midnights.map((to) => [from, to] as const)));
  for (const [from, to] of ranges) {
    const [from_date, to_date] = [new Date(from), new Date(to)];
    const { total } = await listOrders(gateway.pool, MERCHANT, { page: 1, limit: 1, sort: 'asc', from_date, to_date });
    const dates = { from_date, to_date };
    expect({ ...dates, total }).toEqual({
      ...dates,
      total: (await expected('orders.orders', 'not deleted', {}, { page: 1, limit: 1 }, 'asc', dates)).total,
    });
  }
});

test.each<[keyof typeof LISTS, 'asc' | 'desc', Values & OrderFilters & PaymentFilters]>([
  ['orders', 'desc', {}],
  ['orders', 'asc', { status: ['paid'] }],
  ['orders', 'desc', { status: ['paid', 'canceled'] }],
  ['orders', 'asc', { currency: 'USDC', external_reference_id: 'ref-7' }],
  ['payments', 'desc', { payment_rail: 'gateway_pay' }],
  ['refunds', 'asc', {}],
])(
  'cursors walk %s, %s, filtered by %j, while orders are created: each item comes once',
  async (name, sort, filters) => {
    const { table, only, select } = LISTS[name];
    const dates = { from_date: new Date(START + DAY_MS), to_date: new Date('2100-01-01') };
    const before = await expected(table, only, filters, { page: 1, limit: ROWS }, sort, dates);
    const seen: unknown[] = [];
    let cursor: string | undefined;
    for (let n = 0; ; n += 1) {
      const list = { page: 1, limit: 97 + (n % 3), sort, cursor, ...dates };
      const { items, next_cursor: next, ...page } = await select(gateway.pool, MERCHANT, { ...filters, ...list });
      expect(page).toMatchObject({ count: items.length, page: 1 });
      seen.push(...parsed(items));
      // Adds orders in the same millisecond as old ones, before and after the place of the walk.
      if (name === 'orders' && n < 8)
        await gateway.pool.query(
          `insert into orders.orders (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource)
         select id || $1, merchant_id, external_reference_id, status, currency, created_at + interval '1 microsecond', 0,
           '{"n":"new"}' from orders.orders where merchant_id = $2 and not deleted and (resource ->> 'n') in ('1', '${ROWS - 1}', '1000')`,
          [newUlid(), MERCHANT],
        );
      if (next === undefined) break;
      cursor = next;
    }
    const old = seen.filter((item) => (item as { n: unknown }).n !== 'new');
    expect(old).toEqual(before.items.filter(({ n }) => (n as unknown) !== 'new'));
    expect(seen.length).toBeGreaterThan(0);
  },
);
