import type { OrderEvent, OrphanReason } from '@cpg/contracts';
import { applyHeldPayments, applyPayments } from './apply-payments.ts';
import type { CommandOf } from './command.ts';
import { expireIfLate, isInGracePeriod } from './deadline.ts';
import { followedBy } from './evolve.ts';
import { type ExistingOrder, findPayment, isExpired, isFull, remainingMinor } from './state.ts';

/** Offers a payment to its order. The order records it, and once its rail has confirmed it, decides whether it is
 *  applied, held or an orphan. A repeat changes nothing. */
export const offerPayment = (command: CommandOf<'OfferPayment'>, order: ExistingOrder): OrderEvent[] => {
  const { payment, confirmed, at: now } = command;
  const at = now.toISOString();
  const known = findPayment(order, payment.paymentId);
  if (known) return known.confirmedAt === undefined && confirmed ? confirmPayment(command, order) : [];
  if (isFull(order)) return [];
  return followedBy(order, expireIfLate(order, payment.seenAt, now), (current) =>
    followedBy(current, [{ type: 'OrderPaymentReceived', data: { payment, confirmed, at } }], (received) =>
      confirmed ? decideOnConfirmed(received, payment.paymentId, now) : [],
    ),
  );
};

/** The confirmation is recorded whatever the status of the payment is: a capture or a later message may have come
 *  first. */
const confirmPayment = (
  { payment: { paymentId, confirmations, confirmedAt }, at: now }: CommandOf<'OfferPayment'>,
  order: ExistingOrder,
): OrderEvent[] => {
  const confirmation = { ...(confirmations !== undefined && { confirmations }), ...(confirmedAt && { confirmedAt }) };
  const confirmed: OrderEvent = {
    type: 'OrderPaymentConfirmed',
    data: { paymentId, ...confirmation, at: now.toISOString() },
  };
  return followedBy(order, [confirmed], (current) =>
    findPayment(current, paymentId)?.status === 'received' ? decideOnConfirmed(current, paymentId, now) : [],
  );
};

/** Decides whether a confirmed payment is applied, held or an orphan. */
const decideOnConfirmed = (order: ExistingOrder, paymentId: string, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  const payment = findPayment(order, paymentId)!;
  const orphan = (orphanReason: OrphanReason): OrderEvent[] => [
    { type: 'OrderPaymentsOrphaned', data: { paymentIds: [paymentId], orphanReason, at } },
  ];
  if (payment.currency !== order.currency) return orphan('wrong_currency');
  if (order.status === 'canceled') return orphan('canceled');
  if (order.status === 'paid') return orphan('already_paid');
  if (!isExpired(order.status)) return applyHeldPayments(order, at);
  // A payment that its rail saw before the deadline counts, even if it was reported after it.
  const isInTime = payment.seenAt <= order.expiresAt && isInGracePeriod(order, now);
  const isEnough = order.capabilities.partial_payments || payment.amountMinor >= remainingMinor(order);
  return isInTime && isEnough ? applyPayments(order, [payment], 'payment_in_time', at) : orphan('late');
};
