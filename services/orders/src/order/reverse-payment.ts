import type { OrderEvent, OrderStatus, PaymentState } from '@cpg/contracts';
import type { CommandOf } from './command.ts';
import { appliedMinor, type ExistingOrder, findPayment, isFull } from './state.ts';

/** The rail dropped or reversed the payment. The payment's own stream has recorded that already, so the order never
 *  refuses it. */
export const failPayment = (
  { payment, failureReason, at: now }: CommandOf<'FailPayment'>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  const { paymentId } = payment;
  const known = findPayment(order, paymentId);
  if (known ? known.status === 'failed' || known.status === 'refunded' : isFull(order)) return [];
  // The order may learn of the failure before it learns of the payment.
  const received: OrderEvent = { type: 'OrderPaymentReceived', data: { payment, confirmed: false, at } };
  const transition = transitionWithout(order, known, 'payment_failed');
  const failed: OrderEvent = { type: 'OrderPaymentFailed', data: { paymentId, failureReason, ...transition, at } };
  return known ? [failed] : [received, failed];
};

/** The payment was refunded. A partial refund leaves the status of the order; a payment that is refunded in full no
 *  longer counts. */
export const refundPayment = (
  { paymentId, refundId, refundedTotalMinor, at: now }: CommandOf<'RefundPayment'>,
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
