import { metadataHashes, type Order } from '@cpg/contracts';
import { newId, newUlid } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import {
  orderOf,
  paymentOf,
  projectOrder,
  projectPayment,
  projectRefund,
  refundOf,
} from '../../testing/jest-resources.ts';
import { rolledBack } from '../../testing/jest-rolled-back.ts';
import { MAX_FEW } from '../lists/page.ts';
import { listPayments, type PaymentFilters } from '../payments/payment-queries.ts';
import { listOrders, type OrderFilters } from './order-queries.ts';

const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const SEGWIT = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const HASH = `0x${'5c'.repeat(32)}`;
const LIST = { page: 1, limit: 10, sort: 'desc' } as const;

let gateway: TestGateway;
let shop: TestMerchant;
let other: TestMerchant;
/** Of `shop`, oldest first. */
let orders: Order[];
let paymentId: string;
let refundId: string;

const payable = (order: Order, more: { address?: string; reference?: string }) =>
  gateway.pool.query(
    `insert into payments.payables (id, order_id, merchant_id, rail, address, reference, hosted)
     values ($1 || '/' || $2, $1, $3, 'crypto_deposit', $4, $5, false)`,
    [order.id, newUlid(), order.merchant_id, more.address, more.reference],
  );

const at = (minute: number) => new Date(Date.UTC(2026, 0, 31, 12, minute)).toISOString();

beforeAll(async () => {
  gateway = await startGateway({ statementTimeoutMs: 120_000 });
  [shop, other] = [await gateway.merchant(), await gateway.merchant()];
  const orderAt = (minute: number, merchant: TestMerchant, more: Partial<Order>) =>
    orderOf(newId('order'), merchant.id, { created_at: at(minute), updated_at: at(minute), metadata: {}, ...more });
  orders = [
    orderAt(0, shop, {
      external_reference_id: 'invoice-1',
      total_amount: '12.500000',
      metadata: { table: 'B7', n: 7 },
    }),
    orderAt(1, shop, {
      external_reference_id: '1042',
      total_amount: '12.500000',
      currency: 'USDT',
      updated_at: at(50),
    }),
    orderAt(2, shop, { external_reference_id: '12.50', total_amount: '1042.000000', metadata: { table: 'B7' } }),
    orderAt(3, shop, { external_reference_id: HASH, total_amount: '7.000000', metadata: { table: 'B8', ok: true } }),
  ];
  const foreign = orderAt(4, other, {
    external_reference_id: 'invoice-1',
    total_amount: '12.500000',
    metadata: { table: 'B7' },
  });
  for (const order of [...orders, foreign]) await projectOrder(gateway.pool, order);
  for (const order of [orders[0]!, foreign]) {
    await payable(order, { address: ADDRESS });
    await payable(order, { address: SEGWIT });
    await payable(order, { reference: 'PAGE-1' });
    const payment = paymentOf(newId('payment'), order.merchant_id, { order_id: order.id });
    const refund = refundOf(newId('refund'), order.merchant_id, { order_id: order.id, payment_id: payment.id });
    await projectPayment(gateway.pool, payment);
    await gateway.pool.query('update payments.payments set tx_hash = $2 where id = $1', [payment.id, HASH]);
    await projectRefund(gateway.pool, refund);
    if (order !== foreign) [paymentId, refundId] = [payment.id, refund.id];
  }
});
afterAll(() => gateway.close());

/** The orders that a query finds, by their places, newest first. */
const found = async (query: string, merchant = shop): Promise<number[]> => {
  const { status, body } = await merchant.send('GET', `/v1/orders?${query}`);
  expect({ status, details: body.details }).toEqual({ status: 200, details: undefined });
  expect(body.total).toBe(body.items.length);
  return body.items.map(({ id }: Order) => orders.findIndex((order) => order.id === id));
};

test.each<[string, () => string, number[]]>([
  ['the id of an order', () => orders[1]!.id, [1]],
  ['the id of a payment', () => paymentId, [0]],
  ['the id of a refund', () => refundId, [0]],
  ['an external reference', () => 'invoice-1', [0]],
  ['a reference of digits, which is no amount', () => '1042', [1]],
  ['the reference of a payment page', () => 'PAGE-1', [0]],
  ['an address', () => ADDRESS, [0]],
  ['an address in small letters', () => ADDRESS.toLowerCase(), [0]],
  ['an address of Bitcoin in capital letters', () => SEGWIT.toUpperCase(), [0]],
  ['the hash of a transaction, also as a reference', () => HASH, [3, 0]],
  ['a hash with spaces around it', () => ` ${HASH}%0A`, [3, 0]],
  ['a total', () => '12.5', [1, 0]],
  ['a total in a currency', () => '12.50 USDT', [1]],
  ['a whole total in a currency', () => '1042 USDC', [2]],
  ['nothing that exists', () => 'invoice-2', []],
])('search finds orders by %s', async (_, text, places) => {
  expect(await found(`search=${text()}`)).toEqual(places);
});

test.each([
  ['metadata.table=B7', [2, 0]],
  ['metadata=table%3DB7', [2, 0]],
  ['metadata.n=7', [0]],
  ['metadata.ok=true', [3]],
  ['metadata.table=b7', []],
  ['metadata.B7=table', []],
  ['metadata.table=B7&currency=USDC&status=awaiting_payment', [2, 0]],
  ['metadata.table=B7&sort=asc', [0, 2]],
  [`metadata.table=B7&from_date=${at(1)}`, [2]],
  ['metadata.table=B7&search=invoice-1', [0]],
  ['search=12.50&currency=USDT', [1]],
  ['search=12.50+USDC&currency=USDT', []],
  [`updated_from=${at(2)}`, [3, 2, 1]],
  [`updated_from=${at(2)}&currency=USDT`, [1]],
  [`updated_from=${at(2)}&updated_to=${at(2)}`, [2]],
  [`updated_to=${at(2)}&sort=asc`, [0, 2]],
  ['min_amount=12.5&currency=USDC', [2, 0]],
  ['min_amount=12.50001&currency=USDC', [2]],
  [`min_amount=1&currency=USDC&status=paid&status=awaiting_payment&to_date=${at(2)}`, [2, 0]],
] satisfies [string, number[]][])('%s finds exactly the matching orders', async (query, places) => {
  expect(await found(query)).toEqual(places);
});

test('a merchant finds only own orders', async () => {
  for (const query of ['metadata.table=B7', `search=${ADDRESS}`, `search=${HASH}`, 'search=PAGE-1', 'search=12.5'])
    expect(await found(query, other)).toEqual([-1]);
  for (const id of [orders[0]!.id, paymentId, refundId]) expect(await found(`search=${id}`, other)).toEqual([]);
});

test.each([
  ['search=', 'search', 'must not be empty'],
  ['search=ord_1', 'search', 'looks like the id of an order'],
  ['min_amount=5', 'min_amount', 'needs `currency`'],
  ['min_amount=-5&currency=USDC', 'min_amount', 'must be a decimal string'],
  ['metadata.a=1&metadata.b=2', 'metadata', 'filter by one key at a time'],
  ['metadata.a=1&metadata.a=2', 'metadata.a', 'must be given only once'],
  ['metadata.a=1&metadata=a%3D2', 'metadata', 'write `metadata.key=value`, once'],
  ['metadata=a=1&metadata.a=1', 'metadata.a', 'write `metadata.key=value`, once'],
  ['metadata[a]=1', 'metadata[a]', 'write `metadata.key=value`, once'],
  ['metadata=B7', 'metadata', 'write `metadata.key=value`, once'],
  ['metadata=B7&metadata.a=1', 'metadata', 'write `metadata.key=value`, once'],
  ['metadata.=1', 'metadata.', 'is not a known parameter'],
  ['status=paid,expired', 'status', 'repeat the parameter for several'],
  ['updated_from=today', 'updated_from', 'must be ISO 8601'],
])('%s is 400, and the message says what to do', async (query, path, message) => {
  const { status, body } = await shop.send('GET', `/v1/orders?${query}`);
  expect({ status, details: body.details }).toEqual({
    status: 400,
    details: [{ path, message: expect.stringContaining(message) }],
  });
});

test('changed and deleted metadata is found no more', async () => {
  const merchant = await gateway.merchant();
  const order = orderOf(newId('order'), merchant.id, { metadata: { a: '1', b: '2' } });
  await projectOrder(gateway.pool, order);
  const counts = async () => {
    const totals = ['metadata.a=1', 'metadata.b=2', 'metadata.b=3', 'metadata.b=3&currency=USDC'].map(
      async (query) => (await merchant.send('GET', `/v1/orders?${query}`)).body.total as number,
    );
    return Promise.all(totals);
  };
  expect(await counts()).toEqual([1, 1, 0, 0]);
  await gateway.pool.query('update orders.orders set metadata_hashes = $2 where id = $1', [
    order.id,
    metadataHashes({ a: '1', b: '3' }).join(' '),
  ]);
  expect(await counts()).toEqual([1, 0, 1, 1]);
  await gateway.pool.query(
    'update orders.orders set deleted = true, resource = null, metadata_hashes = null where id = $1',
    [order.id],
  );
  expect(await counts()).toEqual([0, 0, 0, 0]);
  const { rows } = await gateway.pool.query('select from orders.order_metadata where order_id = $1', [order.id]);
  expect(rows).toEqual([]);
});

test.each([
  ['external_reference_id=invoice-1', 1],
  ['payment_reference=PAGE-1', 1],
  [`tx_hash=${HASH}`, 1],
  [`tx_hash=${HASH.toUpperCase().replace('X', 'x')}`, 1],
  ['status=applied&status=failed&tx_hash=' + HASH, 1],
  ['status=failed&status=orphan', 0],
  ['external_reference_id=invoice-2', 0],
  ['tx_hash=0x00', 0],
])('payments filtered by %s', async (query, total) => {
  const { body } = await shop.send('GET', `/v1/payments?${query}`);
  expect(body).toMatchObject({ total, items: total === 0 ? [] : [{ id: paymentId }] });
});

describe('a merchant with many orders', () => {
  const MERCHANT = `mer_${newUlid()}`;
  const MANY = MAX_FEW + 500;
  const START = Date.UTC(2026, 0, 1);
  const [TABLE, RARE] = [{ table: 'B7' }, { table: 'C1' }];

  beforeAll(async () => {
    // In parts, each of which takes far less than the time limit of a query.
    for (let first = 1; first <= MANY; first += 1_000)
      await gateway.pool.query(
        `insert into orders.orders (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource,
           last_event_at, total_amount, metadata_hashes)
         select 'ord_' || lpad(n::text, 26, '0'), $1, 'ref-' || n, case when n % 10 = 0 then 'paid' else 'expired' end, 'USDC',
           $2::timestamptz + n * interval '1 second', 0, json_build_object('n', n), $2::timestamptz + n * interval '2 seconds',
           case when n % 50 = 0 then 7 else 10 end, case when n % 50 = 0 then $4 else $3 end
         from generate_series($5::int, least($5 + 999, ${MANY})) as n`,
        [MERCHANT, new Date(START), metadataHashes(TABLE)[0], metadataHashes(RARE)[0], first],
      );
    await gateway.pool.query(
      `insert into payments.payables (id, order_id, merchant_id, rail, address, reference, hosted)
       select id, id, merchant_id, 'crypto_deposit', 'address ' || id, 'page ' || id, false from orders.orders where merchant_id = $1 limit 200`,
      [MERCHANT],
    );
    await gateway.pool.query(
      `insert into payments.payments (id, merchant_id, order_id, status, currency, payment_rail, created_at, revision, resource, tx_hash)
       select replace(id, 'ord', 'pay'), merchant_id, id, 'applied', currency, 'crypto_deposit', created_at, 0, '{}', 'hash ' || id
       from orders.orders where merchant_id = $1 limit 200`,
      [MERCHANT],
    );
    for (const table of ['orders.orders', 'orders.order_metadata', 'payments.payments', 'payments.payables'])
      await gateway.pool.query(`vacuum (analyze) ${table}`);
  });

  const select = async (filters: OrderFilters, list: object = {}) => {
    const { items, total, ...page } = await listOrders(gateway.pool, MERCHANT, { ...LIST, ...filters, ...list });
    return { numbers: (items as unknown as { n: number }[]).map(({ n }) => n), total, next: page.next_cursor };
  };
  const numbers = (matches: (n: number) => boolean) =>
    Array.from({ length: MANY }, (_, index) => MANY - index).filter(matches);

  test.each<[OrderFilters, (n: number) => boolean]>([
    [{ metadata: TABLE }, (n) => n % 50 !== 0],
    [{ metadata: TABLE, status: ['expired'] }, (n) => n % 10 !== 0],
    [{ metadata: TABLE, status: ['paid', 'expired'] }, (n) => n % 50 !== 0],
    [{ metadata: RARE, status: ['paid'] }, (n) => n % 50 === 0],
    [{ updated_from: new Date(START) }, () => true],
    [{ updated_from: new Date(START + 600_000) }, (n) => n >= 300],
    [
      { updated_from: new Date(START + 600_000), updated_to: new Date(START + 20_800_000) },
      (n) => n >= 300 && n <= 10_400,
    ],
    [{ updated_to: new Date(START + 20_000) }, (n) => n <= 10],
    [{ updated_from: new Date(START + MANY * 2_000 - 60_000) }, (n) => n >= MANY - 30],
    [{ min_amount: '5', currency: 'USDC' }, () => true],
    [{ min_amount: '8', currency: 'USDC', status: ['paid', 'expired'] }, (n) => n % 50 !== 0],
    [{ search: '10.00' }, (n) => n % 50 !== 0],
    [{ search: '10.00', status: ['expired'] }, (n) => n % 10 !== 0],
    [{ search: '7.00 USDC', min_amount: '1', currency: 'USDC' }, (n) => n % 50 === 0],
  ])('%j has every page and an exact total, for few orders and for many', async (filters, matches) => {
    const all = numbers(matches);
    for (const list of [{}, { limit: 100, page: 3 }, { sort: 'asc' }, { page: 1_000, limit: 100 }] as const) {
      const { page = 1, limit = 10, sort = 'desc' } = list as { page?: number; limit?: number; sort?: string };
      const ordered = sort === 'desc' ? all : [...all].reverse();
      const { numbers: shown, total } = await select(filters, list);
      expect({ total, shown }).toEqual({ total: all.length, shown: ordered.slice((page - 1) * limit, page * limit) });
    }
    const [from_date, to_date] = [new Date(START + 1_000_000), new Date(START + 9_000_000)];
    const within = all.filter((n) => n >= 1_000 && n <= 9_000);
    expect((await select(filters, { from_date, to_date })).total).toBe(within.length);
    const first = await select(filters, { limit: 7 });
    expect((await select(filters, { limit: 7, cursor: first.next })).numbers).toEqual(all.slice(7, 14));
  });

  /** The plans of the statements that `run` executes, for any values, as the gateway's connections plan them. Tables
   *  are small here, so that plans would read them whole: they show whether an index has what a statement asks for. */
  const plansOf = async (run: (db: Queryable) => Promise<unknown>) => {
    const plans: string[] = [];
    await rolledBack(gateway.pool, async (db) => {
      await db.query('set local enable_seqscan = off');
      const query = async (statement: { text: string; values: unknown[] }) => {
        const { rows } = await db.query<Record<'QUERY PLAN', string>>(
          `explain (generic_plan, costs off) ${statement.text}`,
        );
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return db.query(statement);
      };
      await run({ query } as unknown as Queryable);
    });
    return plans;
  };

  const BY_ID = /using orders_pkey on orders orders_\d\n\s+Index Cond: \(id = ANY/;

  test.each<[string, OrderFilters, RegExp[]]>([
    ['several statuses', { status: ['paid', 'canceled'] }, [/orders_by_status/, /order_counts_pkey/]],
    ['metadata', { metadata: TABLE }, [/order_metadata_newest/]],
    ['metadata and a status', { metadata: RARE, status: ['paid'] }, [/order_metadata_newest/, /orders_pkey/]],
    ['the time of the last change', { updated_from: new Date(START + MANY * 2_000) }, [/orders_by_update/]],
    ['the least amount', { min_amount: '11', currency: 'USDC' }, [/orders_by_amount/]],
    ['a total', { search: '7.00' }, [/orders_by_amount/]],
    ['an id', { search: `ord_${'0'.repeat(26)}` }, [BY_ID]],
    ['an address', { search: ADDRESS }, [BY_ID, /payables_by_address/, /payables_by_reference/, /orders_by_reference/]],
    ['a hash', { search: HASH }, [BY_ID, /payments_by_transaction/, /orders_by_reference/]],
    ['a reference', { search: 'ref-7' }, [BY_ID, /orders_by_reference/, /payables_by_reference/]],
  ])('orders by %s are found by an index, and no table is read whole', async (_, filters, indexes) => {
    const [plan = ''] = await plansOf((db) => listOrders(db, MERCHANT, { ...LIST, ...filters }));
    for (const index of indexes) expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Seq Scan/);
  });

  test.each<[PaymentFilters, RegExp]>([
    [{ applied_from: new Date(START), applied_to: new Date(START + 1) }, /payments_by_application/],
    [{ refunded_from: new Date(START) }, /payments_by_refund/],
    [{ failed_to: new Date(START) }, /payments_by_failure/],
    [{ updated_from: new Date(START), updated_to: new Date(START) }, /payments_by_update/],
  ])('payments by %j are found by an index', async (filters, index) => {
    const [plan = ''] = await plansOf((db) => listPayments(db, MERCHANT, { ...LIST, ...filters }));
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Seq Scan/);
  });

  test.each<[string, OrderFilters, RegExp]>([
    ['the time of the last change', { updated_from: new Date(START) }, /Index Only Scan.* using orders_by_update/],
    ['the least amount', { min_amount: '1', currency: 'USDC' }, /Index Only Scan.* using orders_by_amount/],
  ])('of many orders by %s, the first page reads the newest ones', async (_, filters, count) => {
    const [, wide = ''] = await plansOf((db) => listOrders(db, MERCHANT, { ...LIST, ...filters }));
    expect(wide).toMatch(count);
    const [, page = ''] = wide.split('CTE page');
    expect(page.split('CTE ')[0]).toMatch(/Index Only Scan( Backward)? using orders_(newest|by_currency)/);
    expect(page.split('CTE ')[0]).not.toMatch(/Sort/);
  });

  test.each<[string, object, RegExp]>([
    ['an external reference', { external_reference_id: 'ref-7' }, /orders_by_reference/],
    ['a payment reference', { payment_reference: 'page 7' }, /payables_by_reference/],
    ['a transaction', { tx_hash: 'hash 7' }, /payments_by_transaction/],
    ['several statuses', { status: ['failed', 'orphan'] }, /payments_by_status/],
  ])('payments by %s are found by an index', async (_, filters, index) => {
    const [plan = ''] = await plansOf((db) => listPayments(db, MERCHANT, { ...LIST, ...filters }));
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Seq Scan/);
  });
});
