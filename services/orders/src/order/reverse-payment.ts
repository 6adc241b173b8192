import {
  type OfferedPayment,
  type OrderEvent,
  type OrderStatus,
  paymentAfter,
  type PaymentState,
  sightingOf,
} from '@cpg/contracts';
import { applyHeldPayments } from './apply-payments.ts';
import type { CommandOf } from './command.ts';
import { expireIfLate } from './deadline.ts';
import { followedBy } from './evolve.ts';
import { isRefunded, refundedOfApplied } from './payment-changes.ts';
import { appliedMinor, countedMinor, type ExistingOrder, findPayment, isFull, settlementBy } from './state.ts';

/** Records that the rail dropped or reversed the payment, and before that a missed sighting. A paid order then takes
 *  its excess orphans instead, if they are enough. Never throws, because the payment's own stream already has the
 *  failure. */
export const failPayment = (command: CommandOf<'FailPayment'>, order: ExistingOrder): OrderEvent[] => {
  const { payment, failureReason, at: now, failedAt } = command;
  const at = now.toISOString();
  const { paymentId } = payment;
  const recorded = findPayment(order, paymentId);
  if (recorded ? !isNews(payment, recorded) : isFull(order)) return [];
  if (recorded && sightingOf(payment) > sightingOf(recorded))
    return followedBy(order, reinstatePayment({ payment, confirmed: false, at: now }, order, recorded), (current) =>
      failPayment(command, current),
    );
  // The failure can be reported before the payment.
  const received: OrderEvent = { type: 'OrderPaymentReceived', data: { payment, confirmed: false, at } };
  const transition = transitionWithout(order, recorded ? countedMinor(order, recorded) : 0n, 'payment_failed');
  const sighting = payment.sighting !== undefined && { sighting: payment.sighting };
  const failed: OrderEvent = {
    type: 'OrderPaymentFailed',
    data: { paymentId, failureReason, failedAt: failedAt.toISOString(), ...sighting, ...transition, at },
  };
  return followedBy(order, recorded ? [failed] : [received, failed], (current) => applyHeldPayments(current, at));
};

/** Whether the order does not know of this failure yet. A payment may fail again after its rail saw its money again. */
const isNews = (failed: OfferedPayment, recorded: PaymentState): boolean => {
  if (recorded.status === 'refunded' || sightingOf(failed) < sightingOf(recorded)) return false;
  return recorded.status !== 'failed' || sightingOf(failed) > sightingOf(recorded);
};

/** Records that the money of a failed payment was seen again, and before that a missed failure. */
export const reinstatePayment = (
  { payment, confirmed, at: now }: Pick<CommandOf<'OfferPayment'>, 'payment' | 'confirmed' | 'at'>,
  order: ExistingOrder,
  recorded: PaymentState,
): OrderEvent[] => {
  const { paymentId, confirmedAt, confirmations, block, blockChanges, receivedAt, reinstatedAt = receivedAt } = payment;
  const reinstated: OrderEvent = {
    type: 'OrderPaymentReinstated',
    data: {
      paymentId,
      sighting: sightingOf(payment),
      reinstatedAt,
      confirmed,
      ...(confirmedAt && { confirmedAt }),
      ...(confirmations !== undefined && { confirmations }),
      ...(block && { block }),
      ...(blockChanges !== undefined && { blockChanges }),
      at: now.toISOString(),
    },
  };
  const failureReason = recorded.status === 'received' ? 'dropped' : 'reorg';
  const missed = { ...payment, sighting: recorded.sighting };
  const failed = followedBy(order, expireIfLate(order, recorded.seenAt, now), (current) =>
    failPayment(
      { type: 'FailPayment', payment: missed, failureReason, failedAt: new Date(reinstatedAt), at: now },
      current,
    ),
  );
  return [...failed, reinstated];
};

/** How much the clocks of two services may differ. */
const CLOCK_TOLERANCE_MS = 1_000;

/** Records a refund. A partial refund of a paid order changes nothing else: the merchant chose to give money back.
 *  Before the order is paid it takes its amount out of the applied sum, so that the order cannot become paid with too
 *  little. A payment that is refunded in full no longer counts. It still counts if this refund took only its surplus,
 *  because refunds of the order gave back the rest. */
export const refundPayment = (command: CommandOf<'RefundPayment'>, order: ExistingOrder): OrderEvent[] => {
  const { paymentId, refundId, refundedTotalMinor, at: now, refundedAt } = command;
  const payment = findPayment(order, paymentId);
  if (!payment || refundedTotalMinor <= payment.refundedMinor) return [];
  const ofOrderMinor = partsMinor(command, payment);
  if (ofOrderMinor > 0n) {
    const ofItself = { ...command, refundedTotalMinor: refundedTotalMinor - ofOrderMinor };
    const { orderRefundedTotalMinor: _, ...before } = ofItself;
    return followedBy(order, refundPayment(before, order), (current) => [refundPart(command, current)]);
  }
  const ofApplied = refundedOfApplied(payment, refundedTotalMinor);
  const isOfAll = refundedTotalMinor >= payment.amountMinor && ofApplied > 0n;
  const takenMinor = isOfAll ? countedMinor(order, payment) : isMadeWhilePaid(order, refundedAt) ? 0n : ofApplied;
  const leftMinor = isOfAll ? 0n : payment.appliedMinor - takenMinor;
  return [
    {
      type: 'OrderPaymentRefunded',
      data: {
        paymentId,
        refundId,
        refundedTotalMinor: String(refundedTotalMinor),
        ...timesOf(command, payment),
        ...(takenMinor > 0n && { appliedMinor: String(leftMinor) }),
        ...transitionWithout(order, takenMinor, 'payment_refunded'),
        at: now.toISOString(),
      },
    },
  ];
};

/** What refunds of the order took of the payment, as far as the order does not know it yet. */
const partsMinor = (
  { orderRefundedTotalMinor }: CommandOf<'RefundPayment'>,
  { orderRefundedMinor = 0n }: PaymentState,
): bigint => (orderRefundedTotalMinor ?? orderRefundedMinor) - orderRefundedMinor;

/** Records a part of a refund of the order. A paid order stays paid until all that is applied to it is refunded, also
 *  if a payment is then refunded in full. */
const refundPart = (command: CommandOf<'RefundPayment'>, order: ExistingOrder): OrderEvent => {
  const { paymentId, refundId, refundedTotalMinor, orderRefundedTotalMinor, at: now, refundedAt } = command;
  const payment = findPayment(order, paymentId)!;
  const counted = countedMinor(order, payment);
  const refund = {
    refundedTotalMinor: String(refundedTotalMinor),
    orderRefundedTotalMinor: String(orderRefundedTotalMinor),
  };
  const at = now.toISOString();
  const after = paymentAfter(payment, { type: 'PaymentRefunded', data: { ...refund, at } });
  const isAll = isRefunded({ payments: order.payments.map((each) => (each === payment ? after : each)) });
  const partMinor = refundedTotalMinor - payment.refundedMinor;
  const part = after.status === 'refunded' || partMinor > counted ? counted : partMinor;
  const takenMinor = isMadeWhilePaid(order, refundedAt) && !isAll ? 0n : part;
  const taken = isAll ? appliedMinor(order) : takenMinor;
  return {
    type: 'OrderPaymentRefunded',
    data: {
      paymentId,
      refundId,
      ...refund,
      ...timesOf(command, payment),
      ...(takenMinor > 0n && { appliedMinor: String(counted - takenMinor) }),
      ...transitionWithout(order, taken, 'payment_refunded'),
      at,
    },
  };
};

const timesOf = (
  { refundedTotalMinor, refundedAt, appliedAt }: CommandOf<'RefundPayment'>,
  { amountMinor }: PaymentState,
): { readonly refundedAt: string; readonly appliedAt?: string } => {
  const isRefundedInFull = refundedTotalMinor >= amountMinor;
  return {
    refundedAt: refundedAt.toISOString(),
    ...(appliedAt && isRefundedInFull && { appliedAt: appliedAt.toISOString() }),
  };
};

/** Whether the order was paid at the time of the refund. An order can learn of a refund after it became paid. */
const isMadeWhilePaid = (order: ExistingOrder, refundedAt: Date): boolean =>
  order.status === 'paid' && refundedAt.getTime() + CLOCK_TOLERANCE_MS >= Date.parse(order.paidAt);

interface Transition {
  readonly status: OrderStatus;
  readonly reason: string;
}

/** The status of the order once `takenMinor` of its applied sum no longer counts. */
const transitionWithout = (order: ExistingOrder, takenMinor: bigint, reason: string): Transition => {
  const left = appliedMinor(order) - takenMinor;
  if (takenMinor === 0n) return unchanged(order);
  if (order.status === 'paid' && settlementBy(order, left) === null) return { status: 'reversed', reason };
  if (order.status === 'partially_paid' && left === 0n) return { status: 'awaiting_payment', reason };
  return unchanged(order);
};

const unchanged = ({ status, statusReason: reason }: ExistingOrder): Transition => ({ status, reason });
