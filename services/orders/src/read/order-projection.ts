import { OrderDeletionEvent, OrderDeletionRecorded, OrderEvent } from '@cpg/contracts';
import {
  type CountTable,
  isTombstone,
  parseRecorded,
  type Projection,
  type RecentEvents,
  stateAt,
  withoutProjected,
} from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { DELETION_STREAM_PREFIX, isDeletionRecord } from '../commands/deletion.ts';
import { ORDER_STREAM_PREFIX } from '../order/identity.ts';
import { orderDecider } from '../order/order.ts';
import { exists, type Order } from '../order/state.ts';
import { type ProjectedOrder, projectOrders } from './order-rows.ts';

export const orderCounts: readonly CountTable[] = [
  { name: 'order_counts', of: 'orders', keys: ['status', 'currency'], where: 'not deleted' },
];

/** The read model of orders, built from the event log. `OrderDeleted` does not change the row. `OrderDeletionRecorded`
 *  on the stream deletion-<order id> clears it, because the order's own stream is tombstoned and may no longer be
 *  readable. */
export const orderProjection = (client: EventStoreDBClient, recent?: RecentEvents<Order, OrderEvent>): Projection => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent, recent });
  return {
    schema: 'orders',
    tables: ['orders'],
    counts: orderCounts,
    version: 7,
    prefixes: [ORDER_STREAM_PREFIX, DELETION_STREAM_PREFIX],
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
          const { orderId, merchantId, sequence } = event.data;
          latestByOrderId.set(orderId, { order: { status: 'deleted', orderId, merchantId }, revision: sequence });
          continue;
        }
        // Null if the stream is tombstoned by now: a later deletion record clears the row.
        const evolved = await states.read(entry);
        if (!evolved || !exists(evolved.state)) continue;
        const { state: order, recorded } = evolved;
        latestByOrderId.set(order.orderId, { order, revision: recorded.revision });
      }
      await projectOrders(db, [...latestByOrderId.values()], table);
    },
  };
};
