import type { OrderEvent } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { OrderCommand } from './command.ts';
import { appliedMinor, type ExistingOrder, heldOpen, isOpen, renews } from './state.ts';

/** New quotes at the deadline. What was applied keeps its value: only the part of the order that it did not cover is priced anew. */
export const renew = (
  { rates, pricedMinor, at: now }: Extract<OrderCommand, { type: 'RenewOrder' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  if (!renews(order) || heldOpen(order, now) || at < order.expiresAt) return [];
  const applied = appliedMinor(order);
  const uncovered = (pricedMinor * (order.totalMinor - applied) + order.pricedMinor - 1n) / order.pricedMinor;
  return [
    {
      type: 'OrderRenewed',
      data: {
        rates,
        totalMinor: String(applied + uncovered),
        pricedMinor: String(pricedMinor),
        expiresAt: plusMinutes(now, order.expirationMinutes),
        renewal: order.renewals + 1,
        at,
      },
    },
  ];
};

export const expire = (order: ExistingOrder, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  if (!isOpen(order) || heldOpen(order, now)) return [];
  if (at < order.expiresAt) throw new AppError('order_state_conflict', 'the order is not due to expire');
  if (renews(order)) throw new AppError('order_state_conflict', 'the order renews at its deadline');
  return [expired(order, at)];
};

export const expired = (order: ExistingOrder, at: string): OrderEvent => ({
  type: 'OrderExpired',
  data: {
    orphanedPaymentIds: order.payments
      .filter((payment) => payment.status === 'received' && payment.confirmedAt)
      .map(({ paymentId }) => paymentId),
    status: appliedMinor(order) > 0n ? 'partially_paid_expired' : 'expired',
    reason: 'deadline_passed',
    at,
  },
});

/** Moves the clock of one order forward, as if that much time had passed. */
export const advanceTime = (
  { minutes, at }: Extract<OrderCommand, { type: 'AdvanceTime' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  if (!isOpen(order))
    throw new AppError('order_state_conflict', `an order that is ${order.status} has no deadline to come`);
  const expiresAt = plusMinutes(new Date(order.expiresAt), -minutes);
  return [{ type: 'OrderTimeAdvanced', data: { minutes, expiresAt, at: at.toISOString() } }];
};

export const plusMinutes = (from: Date, minutes: number): string =>
  new Date(from.getTime() + minutes * 60_000).toISOString();
