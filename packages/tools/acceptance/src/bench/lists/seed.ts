import type pg from 'pg';
import { openShop, type Shop } from '../../harness/merchants.ts';
import { item, orderBody } from '../../harness/order-bodies.ts';
import type { Stack } from '../../harness/stack.ts';
import { bulkLoad } from './bulk-load.ts';
import { countRows } from './seed-counts.ts';

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
    `insert into payments.payments (id, merchant_id, order_id, status, currency, payment_rail, created_at, revision, resource)
   select 'pay_' || id, merchant_id, 'ord_' || id, case when percent < 90 then 'applied' when percent < 97 then 'failed' else 'refunded' end,
     currency, case when percent % 10 < 7 then 'crypto_deposit' else 'gateway_pay' end, created_at, 1, ${RESOURCE('{payment}')} from {rows}`,
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
