import type { Allocation, OrderEvent, OrderStatus, OrphanReason, PaymentState } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import { allocate, type Allocated } from './allocation.ts';
import type { OrderCommand } from './command.ts';
import { expired } from './deadline.ts';
import {
  appliedMinor,
  type ExistingOrder,
  heldOpen,
  isExpired,
  isOpen,
  MAX_PAYMENTS,
  PENDING_HOLDS_OPEN_MS,
  remainingMinor,
  renews,
  then,
} from './state.ts';

/** News of a payment from its own stream: it is noticed, and once its rail has confirmed it, it applies, is held, or is an orphan. */
export const offer = (
  { payment, confirmed, at: now }: Extract<OrderCommand, { type: 'OfferPayment' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  const { paymentId, confirmations } = payment;
  const known = order.payments.find((candidate) => candidate.paymentId === paymentId);
  if (!known && isFull(order)) return [];
  if (!known) {
    // The deadline is kept even where its timer is late.
    const lapsed =
      isOpen(order) &&
      at > order.expiresAt &&
      payment.seenAt > order.expiresAt &&
      !renews(order) &&
      !heldOpen(order, now);
    return then(order, lapsed ? [expired(order, at)] : [], (current) =>
      then(current, [{ type: 'OrderPaymentReceived', data: { payment, confirmed, at } }], (noticed) =>
        confirmed ? place(noticed, paymentId, now) : [],
      ),
    );
  }
  if (known.confirmedAt !== undefined || !confirmed) return [];
  const { confirmedAt } = payment;
  const news = { ...(confirmations !== undefined && { confirmations }), ...(confirmedAt && { confirmedAt }) };
  // It is taken note of whatever has become of the payment meanwhile: a capture, or news that overtook this.
  return then(order, [{ type: 'OrderPaymentConfirmed', data: { paymentId, ...news, at } }], (noticed) =>
    known.status === 'received' ? place(noticed, paymentId, now) : [],
  );
};

/** Whether it takes note of no further payment: their money is due for refund. */
const isFull = ({ payments }: ExistingOrder): boolean => payments.length >= MAX_PAYMENTS;

/** What a confirmed payment does to its order: it applies, is held, or is an orphan. */
const place = (order: ExistingOrder, paymentId: string, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  const payment = order.payments.find((candidate) => candidate.paymentId === paymentId)!;
  const orphan = (orphanReason: OrphanReason): OrderEvent[] => [
    { type: 'OrderPaymentsOrphaned', data: { paymentIds: [paymentId], orphanReason, at } },
  ];
  if (payment.currency !== order.currency) return orphan('wrong_currency');
  if (order.status === 'canceled') return orphan('canceled');
  if (order.status === 'paid') return orphan('already_paid');
  if (!isExpired(order.status)) return settle(order, at);
  // Money that its rail saw in time counts, even if it was reported late.
  const inTime =
    payment.seenAt <= order.expiresAt && now.getTime() < Date.parse(order.expiresAt) + PENDING_HOLDS_OPEN_MS;
  const enough = order.capabilities.partial_payments || payment.amountMinor >= remainingMinor(order);
  return inTime && enough ? apply(order, [payment], 'payment_in_time', at) : orphan('late');
};

/** Applies what is held, once it settles the order or may count in part. */
export const settle = (order: ExistingOrder, at: string): OrderEvent[] => {
  const held = order.payments.filter((payment) => payment.status === 'received' && payment.confirmedAt);
  if (held.length === 0 || order.status === 'initialized') return [];
  const sum = held.reduce((total, payment) => total + payment.amountMinor, 0n);
  if (sum >= remainingMinor(order)) return apply(order, held, 'payment_settled', at);
  return order.capabilities.partial_payments && isOpen(order) ? apply(order, held, 'partial_payment', at) : [];
};

const apply = (order: ExistingOrder, payments: readonly PaymentState[], reason: string, at: string): OrderEvent[] => {
  const { allocations, surplus } = allocate(remainingMinor(order), payments, order.capabilities.can_overpay);
  const sum = allocations.reduce((total, allocation) => total + allocation.appliedMinor, appliedMinor(order));
  const status = sum >= order.totalMinor ? 'paid' : partlyPaid(order.status);
  const events: OrderEvent[] = [];
  if (allocations.length > 0)
    events.push({ type: 'OrderPaymentsApplied', data: { allocations: allocations.map(written), status, reason, at } });
  if (status === 'paid' && order.status !== 'paid') events.push({ type: 'OrderPaid', data: { reason, at } });
  // What came late already is an orphan, and stays one that a capture may apply when the order needs it.
  const paymentIds = surplus.filter(({ status }) => status === 'received').map(({ paymentId }) => paymentId);
  if (paymentIds.length > 0)
    events.push({ type: 'OrderPaymentsOrphaned', data: { paymentIds, orphanReason: 'already_paid', at } });
  return events;
};

const written = ({ paymentId, appliedMinor: applied, unappliedMinor }: Allocated): Allocation => ({
  paymentId,
  appliedMinor: String(applied),
  unappliedMinor: String(unappliedMinor),
});

const partlyPaid = (status: OrderStatus): OrderStatus => {
  if (status === 'reversed' || status === 'paid') return status;
  return isExpired(status) ? 'partially_paid_expired' : 'partially_paid';
};

/** Applies all that is pending, and what came late, unless a part of it was given back: then its merchant has decided otherwise. */
export const capture = (order: ExistingOrder, at: string): OrderEvent[] => {
  if (order.status === 'canceled') throw new AppError('order_state_conflict', 'a canceled order takes no payments');
  if (order.status === 'initialized')
    throw new AppError('order_state_conflict', 'the order still waits for its instructions: try again');
  const due = order.payments.filter(
    (payment) =>
      payment.currency === order.currency &&
      (payment.status === 'received' ||
        (payment.status === 'orphan' && payment.orphanReason === 'late' && payment.refundedMinor === 0n)),
  );
  return due.length > 0 ? apply(order, due, 'captured', at) : [];
};

/** The rail dropped the money, or took it back. Its own stream has recorded that, so it is taken as it is, whatever the order thought. */
export const failPayment = (
  { payment, failureReason, at: now }: Extract<OrderCommand, { type: 'FailPayment' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  const { paymentId } = payment;
  const known = order.payments.find((candidate) => candidate.paymentId === paymentId);
  if (known ? known.status === 'failed' || known.status === 'refunded' : isFull(order)) return [];
  // News of the failure may overtake news of the payment.
  const notice: OrderEvent[] = known ? [] : [{ type: 'OrderPaymentReceived', data: { payment, confirmed: false, at } }];
  return [
    ...notice,
    { type: 'OrderPaymentFailed', data: { paymentId, failureReason, ...without(order, known, 'payment_failed'), at } },
  ];
};

/** A part that is given back leaves the order as it is: what its payer owed is paid. A payment that is refunded whole does not count
 *  any more. */
export const refundPayment = (
  { paymentId, refundId, refundedTotalMinor, at: now }: Extract<OrderCommand, { type: 'RefundPayment' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const payment = order.payments.find((candidate) => candidate.paymentId === paymentId);
  if (!payment || refundedTotalMinor <= payment.refundedMinor) return [];
  const whole = refundedTotalMinor >= payment.amountMinor;
  const transition = whole
    ? without(order, payment, 'payment_refunded')
    : { status: order.status, reason: order.statusReason };
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

/** The status of the order once `payment` no longer counts. */
const without = (
  order: ExistingOrder,
  payment: PaymentState | undefined,
  reason: string,
): { status: OrderStatus; reason: string } => {
  const left = appliedMinor(order) - (payment?.appliedMinor ?? 0n);
  if (order.status === 'paid' && left < order.totalMinor) return { status: 'reversed', reason };
  if (order.status === 'partially_paid' && left === 0n) return { status: 'awaiting_payment', reason };
  return { status: order.status, reason: order.statusReason };
};
