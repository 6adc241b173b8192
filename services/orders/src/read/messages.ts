import { messageFor, OrderDeletionEvent, OrderEvent, type OrderMessage } from '@cpg/contracts';
import { isTombstone, parseRecorded, type RecentEvents, type Recorded, stateAt } from '@cpg/event-sourcing';
import type { OutgoingMessage } from '@cpg/platform/kafka';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { orderDecider } from '../order/order.ts';
import { exists, type Order } from '../order/state.ts';
import { orderView } from '../order/view.ts';
import { isDeletionRecord } from './order-projection.ts';

/** Makes the `orders.v1` message of an event in the log. Null for an event that is not published: `OrderDeleted`, whose
 *  deletion record is published in its place, an event of an unknown type, and an event of an order that has been
 *  deleted since. */
export const orderMessages = (client: EventStoreDBClient, recent?: RecentEvents<Order, OrderEvent>) => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent, recent });
  return async (entry: AllStreamResolvedEvent): Promise<OutgoingMessage | null> => {
    if (isTombstone(entry)) return null;
    if (isDeletionRecord(entry)) {
      const recorded = parseRecorded(OrderDeletionEvent, entry);
      const { sequence } = recorded.event.data;
      return messageFor({ ...recorded, revision: sequence }, subjectOf(recorded.event.data), null);
    }
    const evolved = await states.read(entry);
    return evolved && orderMessage(evolved.recorded, evolved.state);
  };
};

/** The message of an event, with the order right after it. The same event always gives the same message. */
export const orderMessage = (recorded: Recorded<OrderEvent>, order: Order): OrderMessage | null =>
  exists(order) ? (messageFor(recorded, subjectOf(order), orderView(order)) as OrderMessage | null) : null;

const subjectOf = ({ orderId, merchantId }: { readonly orderId: string; readonly merchantId: string }) => ({
  source: '/orders' as const,
  subject: orderId,
  orderId,
  merchantId,
});
