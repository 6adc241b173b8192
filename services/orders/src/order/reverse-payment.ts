import type { OrderEvent, OrderStatus, PaymentState } from '@cpg/contracts';
import type { CommandOf } from './command.ts';
import { appliedMinor, type ExistingOrder, findPayment, isFull } from './state.ts';

/** Records that the rail dropped or reversed the payment. Never throws, because the payment's own stream has recorded
 *  the failure already. */
export const failPayment = (
  { payment, failureReason, at: now, failedAt = now }: CommandOf<'FailPayment'>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  const { paymentId } = payment;
  const recorded = findPayment(order, paymentId);
  if (recorded ? recorded.status === 'failed' || recorded.status === 'refunded' : isFull(order)) return [];
  // The failure can be reported before the payment.
  const received: OrderEvent = { type: 'OrderPaymentReceived', data: { payment, confirmed: false, at } };
  const transition = transitionWithout(order, recorded, 'payment_failed');
  const failed: OrderEvent = {
    type: 'OrderPaymentFailed',
    data: { paymentId, failureReason, failedAt: failedAt.toISOString(), ...transition, at },
  };
  return recorded ? [failed] : [received, failed];
};

/** Records a refund. A partial refund does not change the status of the order. A payment that is refunded in full no
 *  longer counts towards the total. */
export const refundPayment = (
  { paymentId, refundId, refundedTotalMinor, at: now, refundedAt = now }: CommandOf<'RefundPayment'>,
  order: ExistingOrder,
): OrderEvent[] => {
  const payment = findPayment(order, paymentId);
  if (!payment || refundedTotalMinor <= payment.refundedMinor) return [];
  const isFullRefund = refundedTotalMinor >= payment.amountMinor;
  const transition = isFullRefund ? transitionWithout(order, payment, 'payment_refunded') : unchanged(order);
  return [
    {
      type: 'OrderPaymentRefunded',
      data: {
        paymentId,
        refundId,
        refundedTotalMinor: String(refundedTotalMinor),
        refundedAt: refundedAt.toISOString(),
        ...transition,
        at: now.toISOString(),
      },
    },
  ];
};

interface Transition {
  readonly status: OrderStatus;
  readonly reason: string;
}

/** The status of the order once `payment` no longer counts. */
const transitionWithout = (order: ExistingOrder, payment: PaymentState | undefined, reason: string): Transition => {
  const left = appliedMinor(order) - (payment?.appliedMinor ?? 0n);
  if (order.status === 'paid' && left < order.totalMinor) return { status: 'reversed', reason };
  if (order.status === 'partially_paid' && left === 0n) return { status: 'awaiting_payment', reason };
  return unchanged(order);
};

const unchanged = ({ status, statusReason: reason }: ExistingOrder): Transition => ({ status, reason });
