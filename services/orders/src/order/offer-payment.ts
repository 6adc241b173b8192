import { type OfferedPayment, type OrderEvent, type OrphanReason, type PaymentState, sightingOf } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { applyHeldPayments, applyPayments, orphan } from './apply-payments.ts';
import type { CommandOf } from './command.ts';
import { expireIfLate, isInGracePeriod } from './deadline.ts';
import { evolve, followedBy } from './evolve.ts';
import { minutesBefore } from './payment-changes.ts';
import { reinstatePayment } from './reverse-payment.ts';
import {
  applicableMinor,
  type ExistingOrder,
  findPayment,
  isExpired,
  isFull,
  isHeld,
  isSettledWith,
  type Order,
  shortfallMinor,
} from './state.ts';
import { unfitReason } from './unfit-money.ts';

/** Records the payment. Once the rail has confirmed the payment, applies it, holds it or marks it as an orphan. A
 *  repeated command changes nothing. */
export const offerPayment = (offered: CommandOf<'OfferPayment'>, order: ExistingOrder): OrderEvent[] => {
  const command = inTimeOf(order, offered);
  const { payment, confirmed, at: now } = command;
  const recorded = findPayment(order, payment.paymentId);
  if (recorded) return offerRecorded(command, order, recorded);
  const received: OrderEvent = {
    type: 'OrderPaymentReceived',
    data: { payment, confirmed, at: now.toISOString() },
  };
  const recordedFirst = [...expireIfLate(order, payment.seenAt, now), received];
  const events = followedBy(order, recordedFirst, (current) =>
    confirmed ? decideOnConfirmed(current, payment.paymentId, now) : [],
  );
  // If the payment is confirmed, outcomes.ts answers with the orphan reason too_many_payments.
  return isFull(order) && !isPaidBy(order, events, payment.paymentId) ? [] : events;
};

/** Advancing the sandbox clock ages what the rail saw before, even if the rail reports it later. */
const inTimeOf = (
  { advances }: ExistingOrder,
  { payment, ...command }: CommandOf<'OfferPayment'>,
): CommandOf<'OfferPayment'> => {
  const minutes = advances.filter(({ at }) => payment.seenAt < at).reduce((sum, advance) => sum + advance.minutes, 0);
  return { ...command, payment: { ...payment, seenAt: minutesBefore(payment.seenAt, minutes) } };
};

/** Ignores an outdated sighting. A later one is reinstated, and decided on anew if confirmed. */
const offerRecorded = (
  command: CommandOf<'OfferPayment'>,
  order: ExistingOrder,
  recorded: PaymentState,
): OrderEvent[] => {
  const isSeenAgain = sightingOf(command.payment) > sightingOf(recorded) && recorded.status !== 'refunded';
  if (isSeenAgain)
    return followedBy(order, reinstatePayment(command, order, recorded), (current) =>
      command.confirmed ? decideOnConfirmed(current, recorded.paymentId, command.at) : [],
    );
  if (sightingOf(command.payment) !== sightingOf(recorded)) return [];
  const isNewlyConfirmed = command.confirmed && isConfirmedAnew(command.payment, recorded);
  return followedBy(order, changeBlock(command, recorded), (current) =>
    isNewlyConfirmed ? confirmPayment(command, current, recorded) : [],
  );
};

/** Whether the payment is newly confirmed. A confirmation in an earlier block does not count. */
const isConfirmedAnew = (
  { confirmedAt, blockChanges = 0 }: OfferedPayment,
  { confirmedAt: recordedAt, blockChanges: recordedChanges = 0 }: PaymentState,
): boolean => {
  if (recordedAt === undefined) return blockChanges >= recordedChanges;
  return blockChanges > recordedChanges && confirmedAt !== undefined && confirmedAt > recordedAt;
};

/** Records a change of block. A payment that was not applied then has to be confirmed again. */
const changeBlock = ({ payment, unconfirmed, at }: CommandOf<'OfferPayment'>, recorded: PaymentState): OrderEvent[] => {
  const { paymentId, blockChanges: recordedChanges = 0 } = recorded;
  const { block, confirmations, blockChanges = 0, blockChangedAt = payment.receivedAt } = payment;
  if (blockChanges <= recordedChanges) return [];
  const data = { paymentId, ...(block && { block }), blockChanges, changedAt: blockChangedAt, at: at.toISOString() };
  return [
    {
      type: 'OrderPaymentBlockChanged',
      data: {
        ...data,
        ...(confirmations !== undefined && { confirmations }),
        ...(unconfirmed && recorded.confirmedAt !== undefined && { unconfirmed }),
      },
    },
  ];
};

/** Whether the order is paid by these events, or will be as soon as it may apply the payment. */
const isPaidBy = (order: ExistingOrder, events: OrderEvent[], paymentId: string): boolean => {
  const after = fold({ evolve }, order as Order, events) as ExistingOrder;
  const payment = findPayment(after, paymentId)!;
  const isHeldAmountEnough = isHeld(payment) && isSettledWith(after, applicableMinor(after, payment));
  return isHeldAmountEnough || events.some(({ type }) => type === 'OrderPaid');
};

/** Records the confirmation, for every status of the payment. A payment that is no longer `received`, for example
 *  because it was captured before, keeps its status, unless it is an orphan that the order needs. */
const confirmPayment = (
  { payment, at: now }: CommandOf<'OfferPayment'>,
  order: ExistingOrder,
  { seenAt }: PaymentState,
): OrderEvent[] => {
  const { paymentId, confirmations, confirmedAt } = payment;
  const confirmation = { ...(confirmations !== undefined && { confirmations }), ...(confirmedAt && { confirmedAt }) };
  const confirmed: OrderEvent = {
    type: 'OrderPaymentConfirmed',
    data: { paymentId, ...confirmation, at: now.toISOString() },
  };
  return followedBy(order, [...expireIfLate(order, seenAt, now), confirmed], (current) =>
    findPayment(current, paymentId)?.status === 'received'
      ? decideOnConfirmed(current, paymentId, now)
      : applyHeldPayments(current, now.toISOString()),
  );
};

/** Applies a confirmed payment, holds it or marks it as an orphan. */
const decideOnConfirmed = (order: ExistingOrder, paymentId: string, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  const payment = findPayment(order, paymentId)!;
  const markAsOrphan = (reason: OrphanReason): OrderEvent[] => orphan(order, [payment], reason, at);
  const unfit = unfitReason(order, payment);
  if (unfit) return markAsOrphan(unfit);
  if (order.status === 'canceled') return markAsOrphan('canceled');
  const applicable = applicableMinor(order, payment);
  if (order.status === 'paid')
    // The rest of an order that was settled without it, for example when a failed part comes back.
    return applicable <= shortfallMinor(order)
      ? applyPayments(order, [payment], 'payment_settled', at)
      : markAsOrphan('already_paid');
  if (!isExpired(order)) return applyHeldPayments(order, at);
  // A payment seen before the deadline is applied if it is confirmed within the grace period.
  const isInTime = payment.seenAt <= order.expiresAt && isInGracePeriod(order, now);
  if (!isInTime) return markAsOrphan('late');
  const isAmountAccepted = order.capabilities.partial_payments || isSettledWith(order, applicable);
  return isAmountAccepted ? applyPayments(order, [payment], 'payment_in_time', at) : markAsOrphan('insufficient');
};
