import { recount } from '@cpg/operations';
import type pg from 'pg';
import { bulkLoad, type BulkTable } from './bulk-load.ts';

const COUNTED = [
  ['orders', { name: 'order_counts', of: 'orders', keys: ['status', 'currency'], where: 'not deleted' }],
  [
    'payments',
    { name: 'payment_counts', of: 'payments', keys: ['status', 'currency', 'payment_rail'], where: 'not deleted' },
  ],
  ['payments', { name: 'refund_counts', of: 'refunds', keys: ['currency'] }],
] as const;

/** Counts the rows as the triggers would have done. */
export const countRows = async (databaseUrl: string, db: pg.Client): Promise<void> => {
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
