import { OrderDeletionEvent, OrderDeletionRecorded, OrderEvent } from '@cpg/contracts';
import { isTombstone, parseRecorded, stateAt } from '@cpg/event-store';
import { type Projection, withoutProjected } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { deletionStreamOf, isDeletionRecord } from '../deletion.ts';
import { orderStreamOf } from '../order/identity.ts';
import { orderDecider } from '../order/order.ts';
import { exists } from '../order/state.ts';
import { projectDeletion, type ProjectedOrder, projectOrders } from './orders.ts';

/** The read model of orders, built from the event log. A deletion takes effect with its deletion record, not with
 *  `OrderDeleted`. */
export const orderProjection = (client: EventStoreDBClient): Projection => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent });
  return {
    schema: 'orders',
    table: 'orders',
    prefixes: [orderStreamOf(''), deletionStreamOf('')],
    transientColumns: ['claimed_until'],
    apply: async (db, events, table) => {
      const newest = new Map<string, ProjectedOrder>();
      for (const resolved of await withoutProjected(db, table, orderStreamOf(''), events)) {
        if (isTombstone(resolved)) continue;
        if (isDeletionRecord(resolved)) {
          const { event } = parseRecorded(OrderDeletionEvent, resolved);
          if (event.type !== OrderDeletionRecorded.type) continue;
          const { orderId, merchantId, sequence } = event.data;
          newest.delete(orderId);
          await projectDeletion(db, { orderId, merchantId, revision: sequence }, table);
          continue;
        }
        const recorded = parseRecorded(OrderEvent, resolved);
        const order = await states.after(recorded);
        if (order && exists(order)) newest.set(order.orderId, { order, revision: recorded.revision });
      }
      await projectOrders(db, [...newest.values()], table);
    },
  };
};
