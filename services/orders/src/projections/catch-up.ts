import { OrderDeletionRecorded, OrderEvent } from '@cpg/contracts';
import { isTombstone, parseRecorded, stateAt } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { type Deletion, isDeletionRecord } from '../deletion.ts';
import { orderDecider } from '../order/order.ts';
import { exists } from '../order/state.ts';
import { projectDeletion, type ProjectedOrder, projectOrders } from './orders.ts';

/** Applies a batch of the log to the read model, and finishes deletions that a crash left halfway. */
export const orderCatchUp = ({ client, deletion }: { client: EventStoreDBClient; deletion: Deletion }) => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent });
  return async (db: Queryable, events: AllStreamResolvedEvent[]): Promise<void> => {
    const newest = new Map<string, ProjectedOrder>();
    for (const resolved of events) {
      if (isTombstone(resolved)) continue;
      if (isDeletionRecord(resolved)) {
        const { orderId, merchantId, sequence } = parseRecorded(OrderDeletionRecorded, resolved).event.data;
        newest.delete(orderId);
        await projectDeletion(db, { orderId, merchantId, revision: sequence });
        continue;
      }
      const recorded = parseRecorded(OrderEvent, resolved);
      if (recorded.event.type === 'OrderDeleted') {
        await finishDeletion(recorded);
        continue;
      }
      const order = await states.after(recorded);
      if (order && exists(order)) newest.set(order.orderId, { order, revision: recorded.revision });
    }
    await projectOrders(db, [...newest.values()]);
  };

  async function finishDeletion(recorded: ReturnType<typeof parseRecorded<OrderEvent>>): Promise<void> {
    const before = await states.before(recorded);
    if (!before || !exists(before)) return;
    const { actor, requestId, $correlationId } = recorded.metadata;
    await deletion.finish(recorded, before, { actor, requestId, correlationId: $correlationId });
  }
};
