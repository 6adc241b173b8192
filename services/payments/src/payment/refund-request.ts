import { AppError, type PaymentEvent } from '@cpg/contracts';
import type { AddressRefund, PaymentCommand, ReportRefund, RequestRefund } from './command.ts';
import { amountToRefund } from './refund.ts';
import type { ExistingPayment, PaymentRefund } from './state.ts';

/** Reserves a part of a payment, or the rest, for a refund from the merchant's own wallet. Ignores a repeated id. */
export const requestRefund = (command: RequestRefund, payment: ExistingPayment): PaymentEvent[] => {
  const { refundId, reason, network, asset, at } = command;
  if (payment.refunds.some((refund) => refund.refundId === refundId)) return [];
  const amountMinor = String(amountToRefund(command, payment));
  const data = { refundId, amountMinor, ...(reason !== undefined && { reason }), network, asset };
  return [{ type: 'PaymentRefundRequested', data: { ...data, at: at.toISOString() } }];
};

/** Sets where a pending refund goes, once: money that is on the way must still be found there. Ignores a repeat. */
export const addressRefund = (
  { refundId, destination, senders, afterHeight, at }: AddressRefund,
  payment: ExistingPayment,
): PaymentEvent[] => {
  const refund = requestedRefund(payment, refundId);
  if (refund.destination === destination) return [];
  if (refund.status !== 'pending') throw conflict(`the refund is ${refund.status}: its destination cannot change`);
  if (refund.destination !== undefined)
    throw conflict(`the refund goes to ${refund.destination}: cancel it, and request another one to another address`);
  if (payment.status !== 'applied' && payment.status !== 'orphan')
    throw conflict(`the payment is ${payment.status}: there is nothing to send`);
  const data = { refundId, destination, senders: [...senders], afterHeight, at: at.toISOString() };
  return [{ type: 'PaymentRefundAddressed', data }];
};

/** Records that a block contains the transfer of a refund, and that it is final. A refund keeps its first transfer.
 *  While the payment is failed, nothing is settled: its money may come back, and the refund with it. */
export const reportRefund = (
  { refundId, transferId, txHash, isFinal, at: when }: ReportRefund,
  payment: ExistingPayment,
): PaymentEvent[] => {
  const { status, amountMinor, reason, network, asset, destination, ...refund } = requestedRefund(payment, refundId);
  const isNew = status === 'pending' && destination !== undefined;
  const isSame = status === 'sent' && refund.transferId === transferId;
  if (!isNew && !isSame) return [];
  const at = when.toISOString();
  const sent: PaymentEvent = { type: 'PaymentRefundSent', data: { refundId, transferId, txHash, at } };
  const settled: PaymentEvent = {
    type: 'PaymentRefunded',
    data: {
      refundId,
      amountMinor: String(amountMinor),
      refundedTotalMinor: String(payment.refundedMinor + amountMinor),
      ...(reason !== undefined && { reason }),
      txHash,
      ...(network !== undefined && { network }),
      ...(asset !== undefined && { asset }),
      ...(destination !== undefined && { destination }),
      requestedAt: refund.at,
      at,
    },
  };
  const isOwed = payment.status === 'applied' || payment.status === 'orphan';
  return [...(isNew ? [sent] : []), ...(isFinal && isOwed ? [settled] : [])];
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
  const { status } = requestedRefund(payment, refundId);
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

const requestedRefund = ({ refunds }: ExistingPayment, refundId: string): PaymentRefund => {
  const refund = refunds.find((each) => each.refundId === refundId);
  if (!refund) throw new AppError('not_found', 'the refund does not exist');
  if (refund.status === 'recorded')
    throw conflict('the refund only records that you paid back: request one with "settle": "on_chain" to prove it');
  return refund;
};

const conflict = (message: string): AppError => new AppError('payment_conflict', message);
