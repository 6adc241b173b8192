import { AppError, type PaymentEvent, sightingOf } from '@cpg/contracts';
import type { AssignPayment, ReturnPayment } from './command.ts';
import { refund } from './refund.ts';
import { type Assignment, type ExistingPayment, isWithoutOrder, UNCLAIMED_MERCHANT } from './state.ts';

/** Orphans a payment without an order at once, because no order will decide on it. */
export const orphanWithoutOrder = (
  payment: Pick<ExistingPayment, 'merchantId' | 'orderId' | 'address' | 'assignment'>,
  at: Date,
): PaymentEvent[] => {
  if (!isWithoutOrder(payment)) return [];
  const orphanReason = payment.orderId === payment.address ? 'unknown_address' : 'unknown_order';
  return [{ type: 'PaymentOrphaned', data: { orphanReason, at: at.toISOString() } }];
};

/** Gives unclaimed money to an order, which decides on it as on any payment, or to a merchant, where it is an orphan.
 *  Ignores a repeat. */
export const assign = (
  { merchantId, orderId, order, reason, by, at }: AssignPayment,
  payment: ExistingPayment,
): PaymentEvent[] => {
  const { assignment } = payment;
  if (assignment && assignment.merchantId === merchantId && assignment.orderId === orderId) return [];
  requireUnclaimed(payment);
  if (payment.confirmedAt === undefined) throw notConfirmed();
  const assigned: PaymentEvent = {
    type: 'PaymentAssigned',
    data: {
      merchantId,
      ...(orderId !== undefined && { orderId }),
      ...(order && { order }),
      reason,
      by,
      // A late answer that no order is known is about the earlier sighting.
      sighting: sightingOf(payment) + 1,
      seenAt: payment.seenAt,
      confirmedAt: payment.confirmedAt,
      ...(payment.blockChanges !== undefined && { blockChanges: payment.blockChanges }),
      at: at.toISOString(),
    },
  };
  if (orderId !== undefined) return [assigned];
  return [assigned, ...orphanWithoutOrder(payment, at)];
};

/** Records that unclaimed money was returned to its sender. Ignores a repeat. */
export const returnToSender = (
  { refundId, txHash, reason, by, at }: ReturnPayment,
  payment: ExistingPayment,
): PaymentEvent[] => {
  if (payment.refunds.some((refund) => refund.refundId === refundId)) return [];
  requireUnclaimed(payment);
  return refund({ type: 'RefundPayment', refundId, what: 'all', reason, txHash, at }, payment).map((event) =>
    event.type === 'PaymentRefunded' ? { ...event, data: { ...event.data, by } } : event,
  );
};

const requireUnclaimed = (payment: ExistingPayment): void => {
  const { assignment, merchantId, orderId, refunds, status, failureReason } = payment;
  if (assignment) throw conflict(`the payment was already assigned to ${ownerIn(assignment)}`);
  if (merchantId !== UNCLAIMED_MERCHANT)
    throw conflict(`the payment is not unclaimed: it belongs to ${merchantId}, and names ${orderId}`);
  const [returned] = refunds;
  if (returned) throw conflict(`the payment was already marked as returned at ${returned.at}`);
  if (status === 'failed')
    throw conflict(`the payment failed (${failureReason}): wait until its rail has seen and confirmed the money again`);
  if (status !== 'orphan') throw notConfirmed();
};

const notConfirmed = () => conflict('the payment is not confirmed: wait until its rail has confirmed it');

const ownerIn = ({ merchantId, orderId, by, at }: Assignment): string =>
  `${orderId === undefined ? '' : `${orderId} of `}${merchantId} by ${by} at ${at}`;

const conflict = (message: string): AppError => new AppError('payment_conflict', message);
