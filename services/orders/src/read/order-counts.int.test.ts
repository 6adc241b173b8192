import { OrderStatus } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { verifyCounts } from '@cpg/operations';
import { MIGRATIONS } from '../migrations.ts';
import { orderCounts, projectOrders } from './order-projection.ts';

const MERCHANTS = ['mer_a', 'mer_b', 'mer_c'];
const CURRENCIES = ['USDC', 'BTC'];
const WRITERS = 4;
const ROUNDS = 25;
const ORDERS = 60;

let database: Awaited<ReturnType<typeof migratedDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await migratedDatabase(MIGRATIONS, { asyncCommit: true });
  pool = database.pool;
});
afterAll(() => database.stop());
beforeEach(() => pool.query('truncate orders.orders, orders.order_counts'));

const verified = () => verifyCounts(pool, { schema: 'orders', counts: orderCounts });

/** Upserts rows as the projection does: `n` names the order, and the revision decides. */
const write = (rows: readonly { n: number; revision: number; status: string }[]) =>
  pool.query(
    `insert into orders.orders as row (id, merchant_id, status, currency, created_at, revision, resource)
     select id, merchant_id, status, currency, created_at, revision, '{}'
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[])
       as o (id, merchant_id, status, currency, created_at, revision) order by id
     on conflict (id) do update set status = excluded.status, revision = excluded.revision
     where row.revision < excluded.revision and not row.deleted`,
    [
      rows.map(({ n }) => `ord_${n}`),
      rows.map(({ n }) => MERCHANTS[n % 3]),
      rows.map(({ status }) => status),
      rows.map(({ n }) => CURRENCIES[n % 2]),
      // Several orders a day, on several days.
      rows.map(({ n }) => new Date(Date.UTC(2026, 0, 1) + n * 3_700_000)),
      rows.map(({ revision }) => revision),
    ],
  );

/** A deterministic sequence of whole numbers below `limit`. */
const sequence = (seed: number) => {
  let state = seed;
  return (limit: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
};

test('counts stay exact while instances create, change, repeat and delete orders of several merchants at once', async () => {
  const writer = async (seed: number) => {
    const next = sequence(seed);
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = [...new Set(Array.from({ length: 1 + next(12) }, () => next(ORDERS)))];
      await write(
        numbers.map((n) => ({ n, revision: next(6), status: OrderStatus.options[next(OrderStatus.options.length)]! })),
      );
      if (next(5) === 0) {
        const n = next(ORDERS);
        const order = { status: 'deleted', orderId: `ord_${n}`, merchantId: MERCHANTS[n % 3]! } as const;
        await projectOrders(pool, [{ order, revision: 9 }]);
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index + 1)));
  const { rows } = await pool.query('select deleted, count(*)::int from orders.orders group by 1 order by 1');
  expect(rows).toEqual([
    { deleted: false, count: expect.any(Number) },
    { deleted: true, count: expect.any(Number) },
  ]);
  expect(await verified()).toEqual({ differ: 0, differences: [] });
});

test('an update that changes no count does not wait for a writer that changes some', async () => {
  await write([1, 2].map((n) => ({ n, revision: 0, status: 'paid' })));
  const other = await pool.connect();
  await other.query('begin');
  await other.query("update orders.orders set status = 'reversed' where id = 'ord_1'");
  await pool.query("update orders.orders set claimed_until = now() where id = 'ord_2'");
  await other.query('commit');
  other.release();
  expect(await verified()).toEqual({ differ: 0, differences: [] });
});

test('the comparison names counts that are wrong, missing or of no row', async () => {
  await write([
    { n: 0, revision: 0, status: 'paid' },
    { n: 1, revision: 0, status: 'paid' },
  ]);
  await pool.query("update orders.order_counts set n = n + 1 where merchant_id = 'mer_a' and day = '2026-01-01'");
  await pool.query("delete from orders.order_counts where merchant_id = 'mer_b' and day = '-infinity'");
  await pool.query("insert into orders.order_counts values ('mer_x', '2026-01-01', 'paid', 'BTC', 1)");
  expect(await verified()).toEqual({
    differ: 3,
    differences: [
      { table: 'orders.order_counts', id: 'mer_a 2026-01-01 paid USDC', live: { n: 2 }, replayed: { n: 1 } },
      { table: 'orders.order_counts', id: 'mer_b -infinity paid BTC', live: null, replayed: { n: 1 } },
      { table: 'orders.order_counts', id: 'mer_x 2026-01-01 paid BTC', live: { n: 1 }, replayed: null },
    ],
  });
});
