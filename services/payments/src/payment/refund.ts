import { AppError, dueBackMinor, fromMinor, invalidRequest, type PaymentEvent } from '@cpg/contracts';
import type { RefundPayment } from './command.ts';
import { type ExistingPayment, refundableMinor } from './state.ts';

/** Records a refund of a part of a payment, or of the rest. Ignores a repeated refund id. */
export const refund = (command: RefundPayment, payment: ExistingPayment): PaymentEvent[] => {
  const { refundId, reason, txHash, network, destination, at } = command;
  if (payment.refunds.some((refund) => refund.refundId === refundId)) return [];
  if (payment.status === 'received') {
    throw new AppError(
      'payment_conflict',
      'the payment is still pending: it can be refunded once it is applied or an orphan',
    );
  }
  if (payment.status === 'failed') {
    throw new AppError('payment_conflict', 'the payment failed: there is nothing to refund');
  }
  const left = refundableMinor(payment);
  if (left === 0n) {
    throw new AppError('nothing_to_refund', 'the payment is already fully refunded');
  }
  const amount = refundedMinor(command, payment);
  if (amount <= 0n) throw refusedAmount('must be positive');
  if (amount < left && payment.refunds.length >= MAX_REFUNDS)
    throw new AppError(
      'payment_conflict',
      `the payment already has ${MAX_REFUNDS} partial refunds: send "what": "all" to refund the rest`,
    );
  if (amount > left)
    throw new AppError(
      'refund_too_large',
      `only ${fromMinor(left, payment.decimals)} ${payment.currency} of the payment can still be refunded`,
    );
  return [
    {
      type: 'PaymentRefunded',
      data: {
        refundId,
        amountMinor: String(amount),
        refundedTotalMinor: String(payment.refundedMinor + amount),
        ...(reason !== undefined && { reason }),
        ...(txHash !== undefined && { txHash }),
        ...(network !== undefined && { network }),
        ...(destination !== undefined && { destination }),
        at: at.toISOString(),
      },
    },
  ];
};

/** The amount of the refund. An order that needs the payment loses none of it unless the command says so. */
const refundedMinor = ({ amountMinor, what }: RefundPayment, payment: ExistingPayment): bigint => {
  if (amountMinor !== undefined) return amountMinor;
  const left = refundableMinor(payment);
  if (what === 'all') return left;
  const dueMinor = dueBackMinor(payment);
  if (dueMinor > 0n) return dueMinor;
  if (what === 'surplus') throw new AppError('nothing_to_refund', 'the payment has no surplus that is due for refund');
  throw new AppError(
    'refund_amount_required',
    `the payment has no surplus that is due for refund: send an "amount", or "what": "all" to refund all ` +
      `${fromMinor(left, payment.decimals)} ${payment.currency} that are left`,
  );
};

/** Bounds the events of a payment and its order. */
const MAX_REFUNDS = 100;

const refusedAmount = (message: string): AppError => invalidRequest([{ path: 'amount', message }]);
