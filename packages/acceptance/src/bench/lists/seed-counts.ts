import { spanCounts } from '@cpg/stream-relay';
import type pg from 'pg';
import { bulkLoad, type BulkTable } from './bulk-load.ts';

const COUNTED = [
  ['orders', 'orders', ['order_counts', 'order_totals']],
  ['payments', 'payments', ['payment_counts', 'payment_totals']],
  ['payments', 'refunds', ['refund_counts', 'refund_totals']],
] as const;

/** The columns by which rows are counted. */
const COLUMNS = {
  orders: ['merchant_id', 'created_at', 'currency', 'status'],
  payments: ['merchant_id', 'created_at', 'currency', 'payment_rail', 'status'],
  refunds: ['merchant_id', 'created_at', 'currency'],
};

/** Counts the rows as the triggers would have done. */
export const countRows = async (databaseUrl: string, db: pg.Client): Promise<void> => {
  await db.query('create schema seed');
  const tables: BulkTable[] = [DELIVERY_COUNTS];
  for (const [schema, of, names] of COUNTED) {
    // Each span reads these columns once. Whole rows would not fit into memory.
    await db.query(`create unlogged table seed.${of} as select ${COLUMNS[of].join(', ')} from ${schema}.${of}`);
    await db.query(`analyze seed.${of}`);
    for (const name of names) tables.push(await countsOf(db, schema, of, name));
  }
  await bulkLoad(databaseUrl, tables);
  await db.query('drop schema seed cascade');
};

const countsOf = async (db: pg.Client, schema: string, of: string, name: string): Promise<BulkTable> => {
  const { rows } = await db.query<{ name: string }>(
    'select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position',
    [schema, name],
  );
  const columns = rows.map((row) => row.name);
  const [keys, statuses] = [columns.slice(3, columns.indexOf('count')), columns.slice(columns.indexOf('count') + 1)];
  await db.query(`truncate ${schema}.${name}`);
  const recount = spanCounts({ name, of, keys, statuses }).recount('seed');
  return {
    name: `${schema}.${name}`,
    // Oldest counts first, as triggers insert them.
    inserts: [1, 12, 120, 1_680, 10_080].map((span) => ({
      text: `insert into ${schema}.${name} (${columns.join(', ')}) select * from (${recount}) as counts where span = ${span} order by start`,
    })),
  };
};

const DELIVERY_COUNTS: BulkTable = {
  name: 'webhooks.delivery_count_spans',
  inserts: [1, 120, 1_440].map((span) => ({
    text: `insert into webhooks.delivery_count_spans (webhook_id, span, status, start, event_type, day, n)
      select webhook_id, ${span}, status, minute - minute % ${span}, event_type, day, count(*)
      from (select *, webhooks.minute_of_delivery(id) as minute from webhooks.deliveries) as rows group by 1, 3, 4, 5, 6`,
  })),
};
