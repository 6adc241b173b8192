import type { Allocation, OrderEvent, OrderStatus, PaymentState } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import { allocate, type Allocated } from './allocation.ts';
import {
  applicableMinor,
  appliedMinor,
  type ExistingOrder,
  isAtLockedRates,
  isExpired,
  isHeld,
  isOpen,
  remainingMinor,
  sightingsOf,
} from './state.ts';

/** Applies the held payments if together they settle the order, or if the open order takes partial payments. Payments
 *  that were seen after the deadline stay held until the order has new rates. */
export const applyHeldPayments = (order: ExistingOrder, at: string): OrderEvent[] => {
  const held = order.payments.filter((payment) => isHeld(payment) && isAtLockedRates(order, payment));
  if (held.length === 0 || order.status === 'initialized') return [];
  const sum = held.reduce((total, payment) => total + applicableMinor(order, payment), 0n);
  if (sum >= remainingMinor(order)) return applyPayments(order, held, 'payment_settled', at);
  return order.capabilities.partial_payments && isOpen(order) ? applyPayments(order, held, 'partial_payment', at) : [];
};

/** Applies every pending payment and every late orphan. Of a late orphan that was refunded in part, the rest counts. A
 *  payment that its chain shows in no block stays pending: anybody may still replace it. */
export const capture = (order: ExistingOrder, at: string): OrderEvent[] => {
  if (order.status === 'canceled') throw new AppError('order_state_conflict', 'a canceled order takes no payments');
  if (order.status === 'initialized')
    throw new AppError('order_state_conflict', 'the order has no deposit instructions yet: try again');
  const captured = order.payments.filter(
    (payment) =>
      payment.currency === order.currency &&
      !isUnmined(payment) &&
      (payment.status === 'received' || (payment.status === 'orphan' && payment.orphanReason === 'late')),
  );
  return captured.length > 0 ? applyPayments(order, captured, 'captured', at) : [];
};

/** Rails that count no confirmations, for example of the sandbox, do not say so. */
const isUnmined = ({ block, confirmations }: PaymentState): boolean => !block && confirmations === 0;

/** Applies these payments, oldest first. Payments for which nothing remains become orphans. */
export const applyPayments = (
  order: ExistingOrder,
  payments: readonly PaymentState[],
  reason: string,
  at: string,
): OrderEvent[] => {
  const { allocations, surplus } = allocate(remainingMinor(order), payments, {
    canOverpay: order.capabilities.can_overpay,
    applicableMinor: (payment) => applicableMinor(order, payment),
  });
  const sum = allocations.reduce((total, allocation) => total + allocation.appliedMinor, appliedMinor(order));
  const status = sum >= order.totalMinor ? 'paid' : partlyPaidStatus(order);
  const events: OrderEvent[] = [];
  if (allocations.length > 0)
    events.push({
      type: 'OrderPaymentsApplied',
      data: {
        allocations: allocations.map(recordedAllocation),
        ...sightingsOf(
          order,
          allocations.map(({ paymentId }) => paymentId),
        ),
        status,
        reason,
        at,
      },
    });
  if (status === 'paid' && order.status !== 'paid') events.push({ type: 'OrderPaid', data: { reason, at } });
  // A late orphan stays a late orphan: a capture may apply it when the order needs it again.
  const paymentIds = surplus.filter((payment) => payment.status === 'received').map(({ paymentId }) => paymentId);
  if (paymentIds.length > 0)
    events.push({
      type: 'OrderPaymentsOrphaned',
      data: { paymentIds, orphanReason: 'already_paid', ...sightingsOf(order, paymentIds), at },
    });
  return events;
};

const recordedAllocation = ({ paymentId, ...allocated }: Allocated): Allocation => ({
  paymentId,
  appliedMinor: String(allocated.appliedMinor),
  unappliedMinor: String(allocated.unappliedMinor),
});

const partlyPaidStatus = (order: ExistingOrder): OrderStatus => {
  if (order.status === 'reversed' || order.status === 'paid') return order.status;
  return isExpired(order) ? 'partially_paid_expired' : 'partially_paid';
};
