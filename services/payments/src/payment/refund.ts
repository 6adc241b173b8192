import { AppError, fromMinor, invalidRequest, type PaymentEvent } from '@cpg/contracts';
import type { RefundPayment } from './command.ts';
import { type ExistingPayment, refundableMinor } from './state.ts';

/** Refunds a part of a payment, or the rest. Ignores a repeated refund id. */
export const refund = (
  { refundId, amountMinor, reason, txHash, network, destination, at }: RefundPayment,
  payment: ExistingPayment,
): PaymentEvent[] => {
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
  const amount = amountMinor ?? left;
  if (amount <= 0n) throw refusedAmount('must be positive');
  if (amount < left && payment.refunds.length >= MAX_REFUNDS)
    throw new AppError(
      'payment_conflict',
      `the payment already has ${MAX_REFUNDS} partial refunds: refund the whole remaining amount`,
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

/** Bounds the events of a payment and its order. */
const MAX_REFUNDS = 100;

const refusedAmount = (message: string): AppError => invalidRequest([{ path: 'amount', message }]);
