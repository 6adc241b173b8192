import { OrderDeletionEvent, OrderEvent } from '@cpg/contracts';
import { evolveRecorded, firstEvent, lastEvent } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { deletionStreamOf } from '../commands/deletion.ts';
import { existingOrder } from '../commands/order-handler.ts';
import { orderStreamOf } from '../order/identity.ts';
import { orderDecider } from '../order/order.ts';
import { type EarlierUse, keptUntil } from '../order/repeat.ts';
import type { ExistingOrder } from '../order/state.ts';

/** A create that was recorded under an order id. */
export interface EarlierCreate extends EarlierUse {
  /** Null when nothing says it: the deletion record of the order is missing. */
  readonly merchantId: string | null;
  /** The request that created the order. */
  readonly requestId?: string;
  /** The order right after its first event; absent once it is deleted. */
  readonly order?: ExistingOrder;
}

export type FindEarlierCreate = (orderId: string) => Promise<EarlierCreate | null>;

/** Reads the create of an order from its first event, or from its deletion record. Null when the event store has
 *  neither. */
export const earlierCreates =
  (client: EventStoreDBClient): FindEarlierCreate =>
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
