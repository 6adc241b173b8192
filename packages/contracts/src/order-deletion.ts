import { z } from 'zod';
import { defineEvent, type EventOf, recordedEvent } from './event-definition.ts';
import { MerchantId, OrderId, PaymentId, Timestamp } from './ids.ts';
import { RecordedPayable } from './recorded-values.ts';

/** The names of the streams of deletion records start with this prefix; the id of the order follows. */
export const DELETION_STREAM_PREFIX = 'deletion-';
export const deletionStreamOf = (orderId: string): string => `${DELETION_STREAM_PREFIX}${orderId}`;

/** The record of a deletion, on a stream of its own. It holds no personal or commercial data. */
export const OrderDeletionRecorded = defineEvent({
  type: 'OrderDeletionRecorded',
  message: 'order.deleted',
  webhooks: [],
  summary: 'An order and its payments were deleted. Delete your copies of them. The message has no resource.',
  data: {
    orderId: OrderId,
    merchantId: MerchantId,
    actor: z.string(),
    /** Hash of the last event of the deleted stream, and the number of that event. */
    lastHash: z.string(),
    sequence: z.int(),
    /** Where the order could be paid: money that comes later still finds it. */
    payables: z.array(RecordedPayable),
    /** The payments of the order, whose streams are deleted too. */
    paymentIds: z.array(PaymentId),
    /** Payments that had failed: their money can still arrive. Absent if there are none. */
    failedPaymentIds: z.array(PaymentId).optional(),
    at: Timestamp,
  },
});

export type OrderDeletionRecorded = EventOf<typeof OrderDeletionRecorded>;

export const OrderDeletionEvent = recordedEvent([OrderDeletionRecorded]);
