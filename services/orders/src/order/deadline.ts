import { AppError, depositsOf, divideUp, laterOf, type OrderEvent, outsideReferenceOf } from '@cpg/contracts';
import { applyHeldPayments } from './apply-payments.ts';
import type { CommandOf } from './command.ts';
import { followedBy, ratesUntil } from './evolve.ts';
import { minutesBefore } from './payment-changes.ts';
import {
  appliedMinor,
  dueAt,
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
  at.getTime() < Date.parse(dueAt(order)) + CONFIRMATION_GRACE_MS;

/** Whether the order stays open because a payment that may count and was seen before the deadline is not confirmed
 *  yet. */
export const awaitsConfirmation = (order: ExistingOrder, at: Date): boolean =>
  isInGracePeriod(order, at) && hasUnconfirmedInTime(order);

export const hasUnconfirmedInTime = (order: ExistingOrder): boolean =>
  order.payments.some(
    (payment) =>
      payment.status === 'received' &&
      !payment.confirmedAt &&
      payment.seenAt <= dueAt(order) &&
      unfitReason(order, payment) === null,
  );

/** Whether the order gets new rates when it is due, instead of expiring. Only renewals that move the deadline count. */
export const renewsWhenDue = (order: ExistingOrder): boolean =>
  isOpen(order) &&
  order.capabilities.expiration_auto_renewal &&
  (order.renewals < MAX_RENEWALS || dueAt(order) < order.expiresAt);

/** The deadline after a renewal: it stays if only the rates have ended. */
export const deadlineAfterRenewal = ({ expiresAt, expirationMinutes }: ExistingOrder, now: Date): string =>
  now.toISOString() < expiresAt ? expiresAt : plusMinutes(now, expirationMinutes);

/** Renews the order with new rates. Applied payments keep their value: only the part that they do not cover is priced
 *  again. Held payments then apply if they may. */
export const renew = (command: CommandOf<'RenewOrder'>, order: ExistingOrder): OrderEvent[] => {
  const { rates, pricedMinor, at: now } = command;
  const at = now.toISOString();
  if (!renewsWhenDue(order) || awaitsConfirmation(order, now) || at < dueAt(order)) return [];
  const expiresAt = deadlineAfterRenewal(order, now);
  const ratesExpireAt = earlierOf(command.ratesExpireAt ?? expiresAt, expiresAt);
  const applied = appliedMinor(order);
  const uncovered = divideUp(pricedMinor * (order.totalMinor - applied), order.pricedMinor);
  const renewed: OrderEvent = {
    type: 'OrderRenewed',
    data: {
      rates: ratesUntil(rates, ratesExpireAt),
      totalMinor: String(applied + uncovered),
      pricedMinor: String(pricedMinor),
      expiresAt,
      ...(ratesExpireAt < expiresAt && { ratesExpireAt }),
      renewal: expiresAt === order.expiresAt ? order.renewals : order.renewals + 1,
      at,
    },
  };
  return followedBy(order, [renewed], (current) => applyHeldPayments(current, at));
};

export const expire = (order: ExistingOrder, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  if (!isOpen(order) || awaitsConfirmation(order, now)) return [];
  if (at < order.expiresAt) throw new AppError('order_state_conflict', 'the deadline of the order has not passed yet');
  if (renewsWhenDue(order)) throw new AppError('order_state_conflict', 'the order renews at its deadline');
  return [expired(order, at)];
};

/** Expires the order for a late timer: the payment came too late, or the grace period is over. An order with addresses
 *  or an outside provider is left to its timer, which waits for what they show, after a stop also for days. */
export const expireIfLate = (order: ExistingOrder, seenAt: string, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  const showsMore = order.instructions.some((each) => depositsOf(each).length > 0 || outsideReferenceOf(each) !== null);
  const hasExpired =
    isOpen(order) &&
    !showsMore &&
    at > order.expiresAt &&
    (seenAt > order.expiresAt || !isInGracePeriod(order, now)) &&
    !renewsWhenDue(order) &&
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
    throw new AppError(
      'order_state_conflict',
      `an order that is ${order.status} has no deadline ahead: create another order to try a deadline`,
    );
  const [expiresAt, ratesExpireAt] = [order.expiresAt, order.ratesExpireAt].map((end) =>
    minutesBefore(end, minutes),
  ) as [string, string];
  return [{ type: 'OrderTimeAdvanced', data: { minutes, expiresAt, ratesExpireAt, at: at.toISOString() } }];
};

/** Moves the deadline. The locked rates move with it, as long as rates may be locked; after that, an order that renews
 *  gets new ones. Throws `rate_lock_exceeded` for an order that does not. */
export const moveDeadline = (
  order: ExistingOrder,
  { minutes, rateLockMaxMinutes, now }: { minutes: number; rateLockMaxMinutes: number; now: Date },
): { expirationMinutes: number; expiresAt: string; ratesExpireAt: string } => {
  const expiresAt = plusMinutes(now, minutes);
  const limit = lockLimit(order, rateLockMaxMinutes);
  if (limit !== null && expiresAt > limit && !order.capabilities.expiration_auto_renewal)
    throw new AppError(
      'rate_lock_exceeded',
      `the rates of the order can be locked until ${limit} at most: choose an earlier deadline, or create orders with expiration_auto_renewal`,
    );
  const ratesExpireAt = limit === null ? expiresAt : earlierOf(expiresAt, limit);
  return { expirationMinutes: minutes, expiresAt, ratesExpireAt };
};

/** Until when the rates of the order may be locked at most. Null if no rate of it can change. */
const lockLimit = ({ rates, ratesExpireAt, advances }: ExistingOrder, maxMinutes: number): string | null => {
  const limits = Object.values(rates)
    .filter(({ source }) => source !== 'identity')
    .map(({ quoted_at }) => {
      const advanced = advances.filter(({ at }) => at >= quoted_at).reduce((sum, { minutes }) => sum + minutes, 0);
      return plusMinutes(new Date(quoted_at), maxMinutes - advanced);
    });
  if (limits.length === 0) return null;
  return laterOf(limits.reduce(earlierOf), ratesExpireAt);
};

export const earlierOf = (one: string, other: string): string => (one < other ? one : other);

export const plusMinutes = (from: Date, minutes: number): string =>
  new Date(from.getTime() + minutes * 60_000).toISOString();
