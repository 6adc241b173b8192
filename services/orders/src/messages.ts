import { OrderDeletionEvent, OrderEvent, type OrderMessage, OrderMessage as OrderMessageSchema } from '@cpg/contracts';
import { isTombstone, parseRecorded, type Recorded, stateAt } from '@cpg/event-store';
import { messageFor, type MessageSubject } from '@cpg/stream-relay';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { isDeletionRecord } from './deletion.ts';
import { orderDecider } from './order/order.ts';
import { exists, type Order } from './order/state.ts';
import { orderView } from './order/view.ts';

/** Makes the `orders.v1` message of an event in the log. Null for an event that is not published: `OrderDeleted`, whose
 *  deletion record is published in its place, an event of an unknown type, and an event of an order that has been
 *  deleted since. */
export const orderMessages = (client: EventStoreDBClient) => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent });
  return async (resolved: AllStreamResolvedEvent): Promise<OrderMessage | null> => {
    if (isTombstone(resolved)) return null;
    if (isDeletionRecord(resolved)) {
      const recorded = parseRecorded(OrderDeletionEvent, resolved);
      const { orderId, merchantId, sequence } = recorded.event.data;
      return message({ ...recorded, revision: sequence }, { orderId, merchantId, resource: null });
    }
    const recorded = parseRecorded(OrderEvent, resolved);
    const order = await states.after(recorded);
    return order && orderMessage(recorded, order);
  };
};

/** The message of an event, with the order right after it. The same event always gives the same message. */
export const orderMessage = (recorded: Recorded<OrderEvent>, order: Order): OrderMessage | null => {
  if (!exists(order)) return null;
  const { orderId, merchantId } = order;
  return message(recorded, { orderId, merchantId, resource: orderView(order) });
};

const message = (
  recorded: Parameters<typeof messageFor>[0],
  subject: Pick<MessageSubject, 'orderId' | 'merchantId' | 'resource'>,
): OrderMessage | null => {
  const published = messageFor(recorded, { source: '/orders', subject: subject.orderId, ...subject });
  return published && OrderMessageSchema.parse(published);
};
