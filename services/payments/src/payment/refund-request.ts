import { AppError, type PaymentEvent } from '@cpg/contracts';
import type { AddressRefund, PaymentCommand, ReportRefund, RequestRefund } from './command.ts';
import { amountToRefund, refundedEvent } from './refund.ts';
import { type ExistingPayment, findRefund, isOwed, type PaymentRefund } from './state.ts';

/** Reserves a part of a payment, or the rest, for a refund from the merchant's own wallet. Ignores a repeated id. */
export const requestRefund = (command: RequestRefund, payment: ExistingPayment): PaymentEvent[] => {
  const { refundId, reason, network, asset, at } = command;
  if (findRefund(payment, refundId)) return [];
  const amountMinor = String(amountToRefund(command, payment));
  const data = { refundId, amountMinor, ...(reason !== undefined && { reason }), network, asset };
  return [{ type: 'PaymentRefundRequested', data: { ...data, at: at.toISOString() } }];
};

/** Sets where a pending refund goes, once: money that is on the way must still be found there. Ignores a repeat. */
export const addressRefund = (
  { refundId, destination, senders, afterHeight, at }: AddressRefund,
  payment: ExistingPayment,
): PaymentEvent[] => {
  if (requestedRefund(payment, refundId).destination === destination) return [];
  requireDestination(payment, refundId);
  const data = { refundId, destination, senders: [...senders], afterHeight, at: at.toISOString() };
  return [{ type: 'PaymentRefundAddressed', data }];
};

/** The refund, if it still needs a destination. Throws `payment_conflict` otherwise. */
export const requireDestination = (payment: ExistingPayment, refundId: string): PaymentRefund => {
  const refund = requestedRefund(payment, refundId);
  if (refund.status !== 'pending') throw conflict(`the refund is ${refund.status}: its destination cannot change`);
  if (refund.destination !== undefined)
    throw conflict(`the refund goes to ${refund.destination}: cancel it, and request another one to another address`);
  if (!isOwed(payment)) throw conflict(`the payment is ${payment.status}: there is nothing to send`);
  return refund;
};

/** Records that a block contains the transfer of a refund, and that it is final. A refund keeps its first transfer.
 *  While the payment is failed, nothing is settled: its money may come back, and the refund with it. */
export const reportRefund = (
  { refundId, transferId, txHash, isFinal, at }: ReportRefund,
  payment: ExistingPayment,
): PaymentEvent[] => {
  const refund = requestedRefund(payment, refundId);
  const isNew = refund.status === 'pending' && refund.destination !== undefined;
  const isSame = refund.status === 'sent' && refund.transferId === transferId;
  if (!isNew && !isSame) return [];
  const data = { refundId, transferId, txHash, at: at.toISOString() };
  const settled = refundedEvent({ ...refund, txHash, requestedAt: refund.at, at }, payment);
  return [
    ...(isNew ? [{ type: 'PaymentRefundSent', data } as const] : []),
    ...(isFinal && isOwed(payment) ? [settled] : []),
  ];
};

/** Makes a refund pending again whose transfer left the chain. A settled refund stays settled. */
export const reopenRefund = (
  { refundId, transferId, at }: CommandOf<'ReopenRefund'>,
  payment: ExistingPayment,
): PaymentEvent[] => {
  const refund = requestedRefund(payment, refundId);
  if (refund.status !== 'sent' || refund.transferId !== transferId) return [];
  return [{ type: 'PaymentRefundReopened', data: { refundId, at: at.toISOString() } }];
};

/** Frees the amount of a pending refund. Ignores a repeat. */
export const cancelRefund = ({ refundId, at }: CommandOf<'CancelRefund'>, payment: ExistingPayment): PaymentEvent[] => {
  const { status } = requestedRefund(payment, refundId, 'the refund states that you paid back, and cannot be canceled');
  if (status === 'canceled') return [];
  if (status !== 'pending') throw conflict(`the refund is ${status}: only a pending refund can be canceled`);
  return [canceled(refundId, at)];
};

/** The pending refunds of a payment end with it: nobody owes its money any more. */
export const cancelPendingRefunds = ({ refunds }: ExistingPayment, at: Date): PaymentEvent[] =>
  refunds.flatMap(({ refundId, status }) => (status === 'pending' ? [canceled(refundId, at)] : []));

type CommandOf<T> = Extract<PaymentCommand, { type: T }>;

const canceled = (refundId: string, at: Date): PaymentEvent => ({
  type: 'PaymentRefundCanceled',
  data: { refundId, at: at.toISOString() },
});

/** The refund. Throws `not_found`, and `payment_conflict` with `whyNot` for one that the merchant only recorded. */
export const requestedRefund = (
  payment: ExistingPayment,
  refundId: string,
  whyNot = 'the refund only records that you paid back: request one with "settle": "on_chain" to prove it',
): PaymentRefund => {
  const refund = findRefund(payment, refundId);
  if (!refund) throw new AppError('not_found', 'the refund does not exist');
  if (refund.status === 'recorded') throw conflict(whyNot);
  return refund;
};

const conflict = (message: string): AppError => new AppError('payment_conflict', message);
