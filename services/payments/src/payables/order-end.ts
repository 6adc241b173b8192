import { OrderDeletionRecorded, OrderPaid, OrderStatus, Timestamp } from '@cpg/contracts';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { z } from 'zod';

/** Whether an order has ended, and when. */
export interface OrderEnd {
  readonly orderId: string;
  /** Null while it takes payments. */
  readonly endedAt: string | null;
}

const EndingData = z.object({ status: OrderStatus.optional(), at: Timestamp });

const ENDED: readonly OrderStatus[] = ['paid', 'partially_paid_expired', 'expired', 'canceled'];

/** What an event says about the end of its order; null if it says nothing. An event that cannot be read says nothing:
 *  the addresses of an order without an end do not retire. */
export const orderEndIn = ({ event }: AllStreamResolvedEvent): OrderEnd | null => {
  const { type, streamId } = event!;
  const { data } = EndingData.safeParse(event!.data);
  const isEnd = type === OrderPaid.type || type === OrderDeletionRecorded.type;
  if (!data || (!isEnd && data.status === undefined)) return null;
  const orderId = streamId.slice(streamId.indexOf('-') + 1);
  return { orderId, endedAt: isEnd || ENDED.includes(data.status!) ? data.at : null };
};
