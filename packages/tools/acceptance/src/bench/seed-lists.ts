import { recount } from '@cpg/operations';
import pg from 'pg';
import { openShop, type Shop } from '../harness/merchants.ts';
import { item, orderBody } from '../harness/order-bodies.ts';
import type { Stack } from '../harness/stack.ts';

/** A merchant with many rows, and the webhook that has its deliveries. */
export interface SeededShop extends Shop {
  readonly webhookId: string;
}

export interface Seeded {
  /** Has one row of ten. */
  readonly large: SeededShop;
  /** Has one row of a hundred. */
  readonly medium: SeededShop;
  readonly newest: Date;
  /** The time between two rows of a table. */
  readonly stepMs: number;
}

const BATCH = 50_000;
const OTHERS = 500;
/** Within the retention of deliveries. */
const LONGEST_MS = 80 * 86_400_000;

/** Fills the read models with `rows` orders, payments and deliveries and a tenth of refunds, by SQL. Resources are
 *  copies of real ones. Rows have the shares of statuses and currencies that a shop could have. */
export const seedLists = async (stack: Stack, db: pg.Client, rows: number): Promise<Seeded> => {
  const [large, medium] = [await openSeededShop(stack), await openSeededShop(stack)];
  const [order, payment] = await sampleResources(large);
  const newest = new Date();
  const stepMs = Math.min(1_000, LONGEST_MS / rows);
  await createPartitions(db, newest, rows * stepMs);
  const starts = Array.from({ length: Math.ceil(rows / BATCH) }, (_, n) => Math.max(0, rows - (n + 1) * BATCH));
  const tables = INSERTS.map(([name, insert]) => {
    const text = filledIn(insert, { large, medium, order, payment });
    return {
      name,
      // Oldest rows first, as a service inserts them.
      inserts: starts.map((start, n) => ({ text, values: [start, rows - n * BATCH - 1, newest, stepMs] })),
    };
  });
  await bulkLoad(stack.databaseUrl, tables);
  await countRows(stack.databaseUrl, db);
  return { large, medium, newest, stepMs };
};

const filledIn = (
  insert: string,
  { large, medium, order, payment }: Record<'large' | 'medium', SeededShop> & Record<'order' | 'payment', string>,
) =>
  insert
    .replaceAll('{rows}', numbered(large, medium))
    .replaceAll('{order}', literal(order))
    .replaceAll('{payment}', literal(payment));

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const openSeededShop = async (stack: Stack): Promise<SeededShop> => {
  const shop = await openShop(stack);
  const webhook = await shop.api.createWebhook({ url: 'http://127.0.0.1:9/', events: ['order:created'] });
  return { ...shop, webhookId: webhook.id };
};

/** The JSON of a paid order and of its payment, with `{order_id}` and `{payment_id}` in the places of their ids. */
const sampleResources = async ({ api }: SeededShop): Promise<[order: string, payment: string]> => {
  const created = await api.createOrder(orderBody({ payment_currency: 'USDC', items: [item('50', 'USD')] }));
  const order = await api.pay({
    order_id: created.id,
    payment_rail: 'gateway_pay',
    currency: 'USDC',
    amount: created.total_amount,
  });
  const [payment] = order.payments;
  const template = (resource: { id: string }) =>
    JSON.stringify(resource).replaceAll(order.id, '{order_id}').replaceAll(payment!.id, '{payment_id}');
  return [template(order), template(payment!)];
};

const createPartitions = async (db: pg.Client, newest: Date, lengthMs: number): Promise<void> => {
  for (let ms = newest.getTime() - lengthMs; ms <= newest.getTime() + 86_400_000; ms += 86_400_000) {
    const [day, next] = [ms, ms + 86_400_000].map((at) => new Date(at).toISOString().slice(0, 10));
    for (const table of ['events', 'deliveries', 'attempts'])
      await db.query(
        `create table if not exists webhooks.${table}_${day!.replaceAll('-', '')} partition of webhooks.${table}
         for values from ('${day}') to ('${next}')`,
      );
  }
};

/** The columns that all tables have, of the rows `$1` to `$2`; row 0 is the newest. */
const numbered = (large: SeededShop, medium: SeededShop): string => `
  (select n, case when n % 10 = 0 then '${large.id}' when n % 100 = 1 then '${medium.id}' else 'mer_' || n % ${OTHERS} end as merchant_id,
     case when n % 10 = 0 then '${large.webhookId}' when n % 100 = 1 then '${medium.webhookId}' else 'whk_' || n % ${OTHERS} end as webhook_id,
     $3::timestamptz - n * $4::float8 * interval '1 millisecond' as created_at, lpad(n::text, 26, '0') as id,
     (array['USDC','USDC','USDC','USDT','USDT','BTC','ETH','USDG'])[1 + n / 10 * 7919 % 9973 % 8] as currency,
     n / 10 * 7907 % 9967 % 100 as percent
   from generate_series($1::bigint, $2::bigint) as n) as row`;

const RESOURCE = (template: string) =>
  `replace(replace(${template}, '{order_id}', 'ord_' || id), '{payment_id}', 'pay_' || id)::json`;

const INSERTS: readonly (readonly [table: string, insert: string])[] = [
  [
    'orders.orders',
    `insert into orders.orders (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource, last_event_at)
   select 'ord_' || id, merchant_id, 'cart-' || n / 3, case when percent < 70 then 'paid' when percent < 85 then 'expired'
     when percent < 95 then 'canceled' when percent < 99 then 'awaiting_payment' else 'reversed' end,
     currency, created_at, 1, ${RESOURCE('{order}')}, created_at from {rows}`,
  ],
  [
    'payments.payments',
    `insert into payments.payments (id, merchant_id, order_id, status, currency, payment_rail, due_back, created_at, revision, resource)
   select 'pay_' || id, merchant_id, 'ord_' || id, case when percent < 90 then 'applied' when percent < 97 then 'failed' else 'refunded' end,
     currency, case when percent % 10 < 7 then 'crypto_deposit' else 'gateway_pay' end, percent < 1, created_at, 1, ${RESOURCE('{payment}')} from {rows}`,
  ],
  [
    'payments.refunds',
    `insert into payments.refunds (id, payment_id, merchant_id, order_id, currency, created_at, resource)
   select 'rfd_' || id, 'pay_' || id, merchant_id, 'ord_' || id, currency, created_at,
     json_build_object('id', 'rfd_' || id, 'merchant_id', merchant_id, 'payment_id', 'pay_' || id, 'order_id', 'ord_' || id, 'amount', '1.5',
       'currency', currency, 'created_at', created_at) from {rows} where n % 100 in (0, 1, 10, 20, 30, 40, 50, 60, 70, 80)`,
  ],
  [
    'webhooks.deliveries',
    `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, status, attempts, created_at, updated_at)
   select (created_at at time zone 'UTC')::date, 'evt_' || id, webhook_id, webhooks.first_delivery_id(floor(extract(epoch from created_at) * 1000)::bigint) || right(id, 16),
     case when percent % 2 = 0 then 'order:created' else 'payment:applied' end,
     case when percent < 98 then 'delivered' when percent < 99 then 'pending' else 'failed' end, 1, created_at, created_at from {rows}`,
  ],
];

const COUNTED = [
  ['orders', { name: 'order_counts', of: 'orders', keys: ['status', 'currency'], where: 'not deleted' }],
  [
    'payments',
    {
      name: 'payment_counts',
      of: 'payments',
      keys: ['status', 'currency', 'payment_rail', 'due_back'],
      where: 'not deleted',
    },
  ],
  ['payments', { name: 'refund_counts', of: 'refunds', keys: ['currency'] }],
] as const;

/** Counts the rows as the triggers would have done. */
const countRows = async (databaseUrl: string, db: pg.Client): Promise<void> => {
  for (const [schema, { name }] of COUNTED) await db.query(`truncate ${schema}.${name}`);
  const tables = COUNTED.map(([schema, count]) => ({
    name: `${schema}.${count.name}`,
    // Oldest counts first, as triggers insert them.
    inserts: [{ text: `insert into ${schema}.${count.name} ${recount(schema, count)} order by day` }],
  }));
  await bulkLoad(databaseUrl, [DELIVERY_COUNTS, ...tables]);
};

const DELIVERY_COUNTS: BulkTable = {
  name: 'webhooks.delivery_count_spans',
  inserts: [1, 120, 1_440].map((span) => ({
    text: `insert into webhooks.delivery_count_spans (webhook_id, span, status, start, event_type, day, n)
      select webhook_id, ${span}, status, minute - minute % ${span}, event_type, day, count(*)
      from (select *, webhooks.minute_of_delivery(id) as minute from webhooks.deliveries) as rows group by 1, 3, 4, 5, 6`,
  })),
};

/** A table to fill. Its partitions, if it has any, are those that exist then. */
interface BulkTable {
  readonly name: string;
  /** Each statement inserts some of the rows. They run in about this order. */
  readonly inserts: readonly Insert[];
}

interface Insert {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** As many as the benchmark's machine has cores. */
const CONNECTIONS = 2;

/** Fills tables without a write-ahead log, without triggers, and with their indexes built afterwards. All of that only
 *  changes how long this takes: rows, indexes and statistics are the same. */
const bulkLoad = async (databaseUrl: string, tables: readonly BulkTable[]): Promise<void> => {
  await withConnections(databaseUrl, async (onEach) => {
    const indexes: string[][] = [];
    for (const { name } of tables) await onEach([(db) => skipLog(db, name)]);
    for (const { name } of tables) await onEach([async (db) => void indexes.push(await dropIndexes(db, name))]);
    const longest = Math.max(...tables.map(({ inserts }) => inserts.length));
    await onEach(
      Array.from({ length: longest }, (_, n) => tables.flatMap(({ inserts }) => inserts[n] ?? []))
        .flat()
        .map(
          ({ text, values }) =>
            async (db) =>
              void (await db.query(text, values && [...values])),
        ),
    );
    // Before the indexes, so that it reads and writes each page of the table once.
    await onEach(
      tables.map(
        ({ name }) =>
          async (db) =>
            void (await db.query(`vacuum (freeze, analyze) ${name}`)),
      ),
    );
    await onEach(indexes.flat().map((definition) => async (db) => void (await db.query(definition))));
  });
};

type Work = (db: pg.Client) => Promise<void>;
/** Does all of the work, on each connection one after another. */
type OnEach = (works: readonly Work[]) => Promise<void>;

const withConnections = async (databaseUrl: string, work: (onEach: OnEach) => Promise<void>): Promise<void> => {
  const connections = Array.from({ length: CONNECTIONS }, () => new pg.Client({ connectionString: databaseUrl }));
  try {
    for (const db of connections) {
      await db.connect();
      await db.query(`set synchronous_commit = off; set session_replication_role = replica; set jit = off;
        set work_mem = '512MB'; set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 0`);
    }
    await work(async (works) => {
      const left = [...works];
      await Promise.all(
        connections.map(async (db) => {
          for (let next = left.shift(); next; next = left.shift()) await next(db);
        }),
      );
    });
  } finally {
    await Promise.all(connections.map((db) => db.end()));
  }
};

/** A crash would empty these tables. The benchmark starts over then. */
const skipLog = async (db: pg.Client, table: string): Promise<void> => {
  const { rows } = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r'
     and (oid = $1::regclass or oid in (select inhrelid from pg_inherits where inhparent = $1::regclass))`,
    [table],
  );
  for (const { name } of rows) await db.query(`alter table ${name} set unlogged`);
};

/** Returns the statements that make them again. Indexes on what services look for all the time stay: no row is in
 *  them. */
const dropIndexes = async (db: pg.Client, table: string): Promise<string[]> => {
  const { rows } = await db.query<{ drop: string; create: string }>(
    `select case when con.oid is null then 'drop index ' || idx.indexrelid::regclass
         else format('alter table %s drop constraint %I', idx.indrelid::regclass, con.conname) end as drop,
       case when con.oid is null then replace(pg_get_indexdef(idx.indexrelid), ' ON ONLY ', ' ON ')
         else format('alter table %s add constraint %I %s', idx.indrelid::regclass, con.conname, pg_get_constraintdef(con.oid)) end as create
     from pg_index idx left join pg_constraint con on con.conindid = idx.indexrelid and con.contype in ('p', 'u')
     where idx.indrelid = $1::regclass and pg_get_indexdef(idx.indexrelid) not like '%due_at IS NOT NULL%'`,
    [table],
  );
  for (const { drop } of rows) await db.query(drop);
  return rows.map(({ create }) => create);
};
