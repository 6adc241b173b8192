import {
  DELETION_STREAM_PREFIX,
  fromMinor,
  metadataHashes,
  ORDER_STREAM_PREFIX,
  OrderDeletionEvent,
  OrderDeletionRecorded,
  OrderEvent,
} from '@cpg/contracts';
import {
  type CountTable,
  isTombstone,
  parseRecorded,
  type Projection,
  type RecentEvents,
  stateAt,
  withoutProjected,
} from '@cpg/event-sourcing';
import { batchWriter, type Pool, type Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { orderDecider } from '../order/order.ts';
import { dueAt, type ExistingOrder, exists, isOpen, type Order } from '../order/state.ts';
import { orderText } from '../order/view.ts';

export const orderCounts: readonly CountTable[] = [
  { name: 'order_counts', of: 'orders', keys: ['status', 'currency'], where: 'not deleted' },
];

/** The read model of orders, built from the event log. Triggers of `orders` fill `order_metadata` and the counts.
 *  `OrderDeleted` does not change the row. `OrderDeletionRecorded` on the stream deletion-<order id> clears it, because
 *  the order's own stream is tombstoned and may no longer be readable. */
export const orderProjection = (client: EventStoreDBClient, recent?: RecentEvents<Order, OrderEvent>): Projection => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent, recent });
  return {
    schema: 'orders',
    tables: ['orders', 'order_metadata'],
    counts: orderCounts,
    version: 10,
    prefixes: [ORDER_STREAM_PREFIX, DELETION_STREAM_PREFIX],
    // The lease of the timer, which no event records.
    transientColumns: ['claimed_until'],
    apply: async (db, events, schema) => {
      const table = `${schema}.orders`;
      const latestByOrderId = new Map<string, ProjectedOrder>();
      for (const entry of await withoutProjected(db, table, ORDER_STREAM_PREFIX, events)) {
        // The deletion record, which comes before the tombstone, has cleared the row.
        if (isTombstone(entry)) continue;
        if (isDeletionRecord(entry)) {
          const { event } = parseRecorded(OrderDeletionEvent, entry);
          // A newer version of this service may record types that this one does not know.
          if (event.type !== OrderDeletionRecorded.type) continue;
          const { orderId, merchantId, sequence: lastRevision } = event.data;
          latestByOrderId.set(orderId, { order: { status: 'deleted', orderId, merchantId }, revision: lastRevision });
          continue;
        }
        // Null if the stream is tombstoned by now: a later deletion record clears the row.
        const evolved = await states.read(entry);
        if (!evolved) continue;
        // `OrderDeleted`: the row stays until the deletion record.
        if (!exists(evolved.state)) continue;
        const { state: order, recorded } = evolved;
        latestByOrderId.set(order.orderId, { order, revision: recorded.revision });
      }
      await projectOrders(db, [...latestByOrderId.values()], table);
    },
  };
};

/** Whether a log entry is a deletion record. */
export const isDeletionRecord = ({ event }: AllStreamResolvedEvent): boolean =>
  event?.streamId.startsWith(DELETION_STREAM_PREFIX) ?? false;

export interface ProjectedOrder {
  readonly order: ExistingOrder | DeletedOrder;
  readonly revision: number;
}

/** The fields that stay of a deleted order. */
type DeletedOrder = Pick<ExistingOrder, 'orderId' | 'merchantId'> & { readonly status: 'deleted' };

const LIVE = 'orders.orders';

// Locks the rows in the order of their ids, then, in the trigger that counts, the lock of the counts (ADR 32). The lock
// of an order's row guards its rows of `order_metadata` too.
// The reference, the currency and the creation of an order never change: they are set so that a deletion clears them.
const upsert = (table: string) => `
  insert into ${table} as row (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource, due_at, last_event_at, total_amount, metadata_hashes, deleted)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::bigint[], $8::json[], $9::timestamptz[], $10::timestamptz[],
    $11::numeric[], $12::text[], $13::bool[])
  order by 1
  on conflict (id) do update set external_reference_id = excluded.external_reference_id, status = excluded.status,
    currency = excluded.currency, created_at = excluded.created_at, revision = excluded.revision, resource = excluded.resource,
    due_at = excluded.due_at, last_event_at = excluded.last_event_at, total_amount = excluded.total_amount,
    metadata_hashes = excluded.metadata_hashes, claimed_until = null, deleted = excluded.deleted
  where not row.deleted and (row.revision < excluded.revision or excluded.deleted)`;

/** Upserts orders, each once. Clears the row of a deleted order, except its id and merchant. A row with the same or a
 *  later revision, or a deleted row, is not changed. One statement: a transaction with two of them could deadlock. */
export const projectOrders = async (db: Queryable, orders: readonly ProjectedOrder[], table = LIVE): Promise<void> => {
  if (orders.length === 0) return;
  const column = <T>(value: (projected: ProjectedOrder) => T) => orders.map(value);
  const existing = <T>(value: (order: ExistingOrder) => T) =>
    column(({ order }) => (order.status === 'deleted' ? null : value(order)));
  const values = [
    column(({ order }) => order.orderId),
    column(({ order }) => order.merchantId),
    existing((order) => order.externalReferenceId),
    existing((order) => order.status),
    existing((order) => order.currency),
    existing((order) => order.createdAt),
    column(({ revision }) => revision),
    existing(orderText),
    existing(timerAt),
    existing((order) => order.updatedAt),
    existing((order) => fromMinor(order.totalMinor, order.decimals)),
    existing((order) => metadataHashes(order.metadata ?? {}).join(' ')),
    column(({ order }) => order.status === 'deleted'),
  ];
  await db.query({ name: `project-orders ${table}`, text: upsert(table), values });
};

/** Writes the row of an order before the order is answered, together with those of concurrent requests. */
export const orderWriter = (pool: Pool) => {
  // A batch has each id once.
  const write = batchWriter<ProjectedOrder & { readonly id: string }>((rows) => projectOrders(pool, rows));
  return (order: ExistingOrder, revision: number): Promise<void> => write({ id: order.orderId, order, revision });
};

/** How long the timer leaves an order without deposit instructions alone after its last change. */
const INSTRUCT_AFTER_MS = 2_000;

/** When the timer looks at the order: when an open order expires or renews, and shortly after its last change while it
 *  has no deposit instructions. */
const timerAt = (order: ExistingOrder): string | null => {
  if (order.status === 'initialized') return new Date(Date.parse(order.updatedAt) + INSTRUCT_AFTER_MS).toISOString();
  return isOpen(order) ? dueAt(order) : null;
};
