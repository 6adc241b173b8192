import { depositsOf, divideUp, type OrderEvent } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import { applyHeldPayments } from './apply-payments.ts';
import type { CommandOf } from './command.ts';
import { followedBy } from './evolve.ts';
import {
  appliedMinor,
  type ExistingOrder,
  isAtLockedRates,
  isHeld,
  isOpen,
  MAX_RENEWALS,
  sightingsOf,
} from './state.ts';
import { unfitReason } from './unfit-money.ts';

/** How long after the deadline an unconfirmed payment, seen before the deadline, keeps its order open. */
const CONFIRMATION_GRACE_MS = 24 * 60 * 60_000;

/** Whether `at` is before the end of the grace period for payments that were seen before the deadline. */
export const isInGracePeriod = (order: ExistingOrder, at: Date): boolean =>
  at.getTime() < Date.parse(order.expiresAt) + CONFIRMATION_GRACE_MS;

/** Whether the order stays open because a payment that may count and was seen before the deadline is not confirmed
 *  yet. */
export const awaitsConfirmation = (order: ExistingOrder, at: Date): boolean =>
  isInGracePeriod(order, at) &&
  order.payments.some(
    (payment) =>
      payment.status === 'received' &&
      !payment.confirmedAt &&
      payment.seenAt <= order.expiresAt &&
      unfitReason(order, payment) === null,
  );

/** Whether the order gets new rates at its deadline instead of expiring. */
export const renewsAtDeadline = (order: ExistingOrder): boolean =>
  isOpen(order) && order.capabilities.expiration_auto_renewal && order.renewals < MAX_RENEWALS;

/** Renews the order with new rates. Applied payments keep their value: only the part that they do not cover is priced
 *  again. Held payments then apply if they may. */
export const renew = ({ rates, pricedMinor, at: now }: CommandOf<'RenewOrder'>, order: ExistingOrder): OrderEvent[] => {
  const at = now.toISOString();
  if (!renewsAtDeadline(order) || awaitsConfirmation(order, now) || at < order.expiresAt) return [];
  const applied = appliedMinor(order);
  const uncovered = divideUp(pricedMinor * (order.totalMinor - applied), order.pricedMinor);
  const renewed: OrderEvent = {
    type: 'OrderRenewed',
    data: {
      rates,
      totalMinor: String(applied + uncovered),
      pricedMinor: String(pricedMinor),
      expiresAt: plusMinutes(now, order.expirationMinutes),
      renewal: order.renewals + 1,
      at,
    },
  };
  return followedBy(order, [renewed], (current) => applyHeldPayments(current, at));
};

export const expire = (order: ExistingOrder, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  if (!isOpen(order) || awaitsConfirmation(order, now)) return [];
  if (at < order.expiresAt) throw new AppError('order_state_conflict', 'the deadline of the order has not passed yet');
  if (renewsAtDeadline(order)) throw new AppError('order_state_conflict', 'the order renews at its deadline');
  return [expired(order, at)];
};

/** Expires the order for a late timer: the payment came too late, or the grace period is over.
 *  With addresses only the latter counts, because the timer checks that their chains were read. */
export const expireIfLate = (order: ExistingOrder, seenAt: string, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  const isTooLate = seenAt > order.expiresAt && order.instructions.flatMap(depositsOf).length === 0;
  const hasExpired =
    isOpen(order) &&
    at > order.expiresAt &&
    (isTooLate || !isInGracePeriod(order, now)) &&
    !renewsAtDeadline(order) &&
    !awaitsConfirmation(order, now);
  return hasExpired ? [expired(order, at)] : [];
};

const expired = (order: ExistingOrder, at: string): OrderEvent => {
  const held = order.payments.filter(isHeld);
  const orphanedPaymentIds = held.map(({ paymentId }) => paymentId);
  const inTime = held.filter((payment) => isAtLockedRates(order, payment));
  return {
    type: 'OrderExpired',
    data: {
      orphanedPaymentIds,
      ...(inTime.length > 0 && {
        orphanReasons: Object.fromEntries(inTime.map(({ paymentId }) => [paymentId, 'insufficient' as const])),
      }),
      ...sightingsOf(order, orphanedPaymentIds),
      status: appliedMinor(order) > 0n ? 'partially_paid_expired' : 'expired',
      reason: 'deadline_passed',
      at,
    },
  };
};

/** Moves the deadline of one order closer, as if that much time had passed. */
export const advanceTime = ({ minutes, at }: CommandOf<'AdvanceTime'>, order: ExistingOrder): OrderEvent[] => {
  if (!isOpen(order))
    throw new AppError('order_state_conflict', `an order that is ${order.status} has no deadline ahead`);
  const expiresAt = plusMinutes(new Date(order.expiresAt), -minutes);
  return [{ type: 'OrderTimeAdvanced', data: { minutes, expiresAt, at: at.toISOString() } }];
};

export const plusMinutes = (from: Date, minutes: number): string =>
  new Date(from.getTime() + minutes * 60_000).toISOString();
