import { batchWriter, type Pool, type Queryable } from '@cpg/postgres';
import { type ExistingOrder, isOpen } from '../order/state.ts';
import { orderText } from '../order/view.ts';

export interface ProjectedOrder {
  readonly order: ExistingOrder;
  readonly revision: number;
}

const LIVE = 'orders.orders';

// Statements that lock their rows in the same order cannot deadlock.
const upsert = (table: string) => `
  insert into ${table} as row (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource, due_at, last_event_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::bigint[], $8::json[], $9::timestamptz[], $10::timestamptz[])
  order by 1
  on conflict (id) do update set status = excluded.status, revision = excluded.revision, resource = excluded.resource,
    due_at = excluded.due_at, last_event_at = excluded.last_event_at, claimed_until = null
  where row.revision < excluded.revision and not row.deleted`;

/** Upserts orders. A row with the same or a later revision, or a deleted row, is not changed. */
export const projectOrders = async (db: Queryable, orders: readonly ProjectedOrder[], table = LIVE): Promise<void> => {
  if (orders.length === 0) return;
  const column = <T>(value: (projected: ProjectedOrder) => T) => orders.map(value);
  const values = [
    column(({ order }) => order.orderId),
    column(({ order }) => order.merchantId),
    column(({ order }) => order.externalReferenceId),
    column(({ order }) => order.status),
    column(({ order }) => order.currency),
    column(({ order }) => order.createdAt),
    column(({ revision }) => revision),
    column(({ order }) => orderText(order)),
    column(({ order }) => dueAt(order)),
    column(({ order }) => order.updatedAt),
  ];
  await db.query({ name: `project-orders ${table}`, text: upsert(table), values });
};

/** Writes the row of an order before the order is answered, together with those of concurrent requests. */
export const orderWriter = (pool: Pool) => {
  const write = batchWriter<ProjectedOrder & { readonly id: string }>((rows) => projectOrders(pool, rows));
  return (order: ExistingOrder, revision: number): Promise<void> => write({ id: order.orderId, order, revision });
};

const INSTRUCT_AFTER_MS = 2_000;

/** When the order is due: at the deadline of an open order, and shortly after its creation while it has no deposit
 *  instructions. */
const dueAt = (order: ExistingOrder): string | null => {
  if (order.status === 'initialized') return new Date(Date.parse(order.updatedAt) + INSTRUCT_AFTER_MS).toISOString();
  return isOpen(order) ? order.expiresAt : null;
};

/** Clears the row of a deleted order, except its id and merchant. */
export const projectDeletion = async (
  db: Queryable,
  { orderId, merchantId, revision }: { orderId: string; merchantId: string; revision: number },
  table = LIVE,
): Promise<void> => {
  await db.query(
    `insert into ${table} (id, merchant_id, revision, deleted) values ($1, $2, $3, true)
     on conflict (id) do update set external_reference_id = null, status = null, currency = null, created_at = null, resource = null, due_at = null,
       last_event_at = null, revision = $3, deleted = true`,
    [orderId, merchantId, revision],
  );
};
