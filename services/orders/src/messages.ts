import {
  OrderDeletionRecorded,
  OrderEvent,
  type OrderMessage,
  OrderMessage as OrderMessageSchema,
} from '@cpg/contracts';
import { isTombstone, parseRecorded, type Recorded, stateAt } from '@cpg/event-store';
import { messageFor, type MessageSubject } from '@cpg/stream-relay';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { isDeletionRecord } from './deletion.ts';
import { orderDecider } from './order/order.ts';
import { exists, type Order } from './order/state.ts';
import { orderView } from './order/view.ts';

/** The message on `orders.v1` of an event in the log. Null for `OrderDeleted`, which the deletion's own record speaks for, and for
 *  an order that has been deleted since. */
export const orderMessages = (client: EventStoreDBClient) => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent });
  return async (resolved: AllStreamResolvedEvent): Promise<OrderMessage | null> => {
    if (isTombstone(resolved)) return null;
    if (isDeletionRecord(resolved)) {
      const recorded = parseRecorded(OrderDeletionRecorded, resolved);
      const { orderId, merchantId, sequence } = recorded.event.data;
      return message(
        { ...recorded, revision: sequence },
        { orderId, merchantId, resource: null, type: 'order.deleted' },
      );
    }
    const recorded = parseRecorded(OrderEvent, resolved);
    if (recorded.event.type === 'OrderDeleted') return null;
    const order = await states.after(recorded);
    return order && orderMessage(recorded, order);
  };
};

/** The message of an event that left its order like this. The same event always makes the same message. */
export const orderMessage = (recorded: Recorded<OrderEvent>, order: Order): OrderMessage | null => {
  if (!exists(order)) return null;
  const { orderId, merchantId } = order;
  return message(recorded, { orderId, merchantId, resource: orderView(order) });
};

const message = (
  recorded: Parameters<typeof messageFor>[0],
  subject: Pick<MessageSubject, 'orderId' | 'merchantId' | 'resource' | 'type'>,
): OrderMessage =>
  OrderMessageSchema.parse(messageFor(recorded, { source: '/orders', subject: subject.orderId, ...subject }));
