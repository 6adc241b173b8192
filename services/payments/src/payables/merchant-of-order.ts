import {
  deletionStreamOf,
  OrderCreated,
  OrderDeletionEvent,
  OrderDeletionRecorded,
  orderStreamOf,
} from '@cpg/contracts';
import { firstEvent } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import { ORDER_PREFIXES } from './payable.ts';

const AnyOrderEvent = z.object({ type: z.string(), data: z.unknown() });

/** Whether the event store has the order, and it is not deleted. */
export const isOrderRecorded = async (client: EventStoreDBClient, orderId: string): Promise<boolean> => {
  const first = await firstEvent(client, orderStreamOf(orderId), AnyOrderEvent);
  return first !== null && first !== 'deleted';
};

const Owned = z.object({
  type: z.enum([OrderCreated.type, OrderDeletionRecorded.type]),
  data: OrderCreated.recorded.pick({ merchantId: true }),
});

/** The merchant of an order, from the first event of the order or, once it is deleted, from its deletion record. Null
 *  for an unknown order, and while a deletion is not recorded yet. */
export const merchantOfOrder = async (client: EventStoreDBClient, orderId: string): Promise<string | null> => {
  for (const prefix of ORDER_PREFIXES) {
    const first = await firstEvent(client, `${prefix}${orderId}`, Owned);
    if (first && first !== 'deleted') return first.event.data.merchantId;
  }
  return null;
};

/** Whether the payment had failed when its order was deleted. */
export const hadFailedAtDeletion = async (
  client: EventStoreDBClient,
  orderId: string,
  paymentId: string,
): Promise<boolean> => {
  const first = await firstEvent(client, deletionStreamOf(orderId), OrderDeletionEvent);
  if (!first || first === 'deleted') return false;
  return first.event.data.failedPaymentIds?.includes(paymentId) ?? false;
};
