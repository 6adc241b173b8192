import { deletionStreamOf, OrderDeletionEvent, OrderEvent, orderStreamOf } from '@cpg/contracts';
import { evolveRecorded, firstEvent, lastEvent } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { existingOrder } from '../commands/order-handler.ts';
import { orderDecider } from '../order/order.ts';
import { type CreateOnceOptions, type EarlierCreate, keptUntil } from './create-once.ts';

/** Reads the create of an order from its first event, or from its deletion record. Null when the event store has
 *  neither. */
export const earlierCreates =
  (client: EventStoreDBClient): CreateOnceOptions['find'] =>
  async (orderId) => {
    const first = await firstEvent(client, orderStreamOf(orderId), OrderEvent);
    if (first === null) return null;
    const last = first === 'deleted' ? null : await lastEvent(client, orderStreamOf(orderId), OrderEvent);
    // Nothing follows `OrderDeleted`. Without a last event the stream was tombstoned meanwhile.
    if (first === 'deleted' || last === null) return deletedCreate(client, orderId);
    const { event, metadata } = first;
    const order = existingOrder(evolveRecorded(orderDecider, orderDecider.initial, first));
    return {
      until: keptUntil(event.data.at),
      ...metadata.idempotency,
      isDeleted: last.event.type === 'OrderDeleted',
      merchantId: order.merchantId,
      requestId: metadata.requestId,
      order,
    };
  };

const deletedCreate = async (client: EventStoreDBClient, orderId: string): Promise<EarlierCreate> => {
  const record = await firstEvent(client, deletionStreamOf(orderId), OrderDeletionEvent);
  if (record === null || record === 'deleted') return { isDeleted: true, merchantId: null };
  const { at, merchantId } = record.event.data;
  return { until: keptUntil(at), ...record.metadata.idempotency, isDeleted: true, merchantId };
};
