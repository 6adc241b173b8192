import {
  messageTypeOf,
  OrderDeletionRecorded,
  OrderEvent,
  type OrderMessage,
  OrderMessage as OrderMessageSchema,
} from '@cpg/contracts';
import { parseRecorded, type Recorded, stateAt } from '@cpg/event-store';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { deletionStreamOf } from './deletion.ts';
import { orderDecider } from './order/order.ts';
import { exists } from './order/state.ts';
import { orderView } from './order/view.ts';

const isDeletionRecord = (stream: string): boolean => stream.startsWith(deletionStreamOf(''));

/** The message on `orders.v1` of an event in the log. Null for `OrderDeleted`, which the deletion's own record speaks for, and for
 *  an order that has been deleted since. */
export const orderMessages = (client: EventStoreDBClient) => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent });
  return async (resolved: AllStreamResolvedEvent): Promise<OrderMessage | null> => {
    if (isDeletionRecord(resolved.event?.streamId ?? '')) {
      const recorded = parseRecorded(OrderDeletionRecorded, resolved);
      const { orderId, merchantId, sequence } = recorded.event.data;
      return message({ ...recorded, revision: sequence }, 'order.deleted', { orderId, merchantId }, null);
    }
    const recorded = parseRecorded(OrderEvent, resolved);
    if (recorded.event.type === 'OrderDeleted') return null;
    const order = await states.after(recorded);
    if (!order || !exists(order)) return null;
    return message(recorded, messageTypeOf(recorded.event.type), order, orderView(order));
  };
};

const message = (
  {
    id,
    event,
    metadata,
    revision,
  }: Pick<Recorded<OrderEvent | OrderDeletionRecorded>, 'id' | 'event' | 'metadata' | 'revision'>,
  type: string,
  { orderId, merchantId }: { orderId: string; merchantId: string },
  resource: unknown,
): OrderMessage =>
  OrderMessageSchema.parse({
    specversion: '1.0',
    id,
    source: '/orders',
    type,
    subject: orderId,
    time: event.data.at,
    datacontenttype: 'application/json',
    dataschema: `/schemas/${type}.v1.json`,
    sequence: String(revision),
    correlationid: metadata.$correlationId,
    causationid: metadata.$causationId,
    merchantid: merchantId,
    orderid: orderId,
    data: { change: event.data, resource },
  });
