import { AppError, fromMinor, invalidRequest, type PaymentEvent, withoutUndefined } from '@cpg/contracts';
import type { OrderRefundPart, RefundAmount, RefundPayment, RefundTransfer } from './command.ts';
import {
  appliedLeftMinor,
  type ExistingPayment,
  findRefund,
  refundableMinor,
  reservedMinor,
  unreservedDueMinor,
} from './state.ts';

/** Records a refund of a part of a payment, or of the rest. Ignores a repeated refund id. */
export const refund = (command: RefundPayment, payment: ExistingPayment): PaymentEvent[] => {
  if (findRefund(payment, command.refundId)) return [];
  const amountMinor =
    command.orderRefundId === undefined ? amountToRefund(command, payment) : orderRefundPart(command, payment);
  return [refundedEvent({ ...command, amountMinor }, payment)];
};

/** The amount of a part of a refund of the order. Throws an AppError if that much is not left beside the surplus.
 *  `MAX_REFUNDS` does not count here: the orders service limits the refunds of an order. */
const orderRefundPart = ({ amountMinor }: OrderRefundPart, payment: ExistingPayment): bigint => {
  const left = appliedLeftMinor(payment);
  if (amountMinor <= left) return amountMinor;
  throw new AppError(
    'refund_too_large',
    `only ${fromMinor(left, payment.decimals)} ${payment.currency} of what is applied of the payment can still be refunded${besideReserved(payment)}`,
  );
};

/** The end of a refusal, if refunds that are under way are a reason for it. */
const besideReserved = (payment: ExistingPayment): string => {
  const reserved = reservedMinor(payment);
  return reserved > 0n ? `: requested refunds reserve ${fromMinor(reserved, payment.decimals)}` : '';
};

interface RefundedMoney extends RefundTransfer {
  readonly refundId: string;
  readonly amountMinor: bigint;
  readonly orderRefundId?: string | undefined;
  readonly reason?: string | undefined;
  readonly asset?: string | undefined;
  /** When the refund was requested. Only of a refund that a transfer on its chain proves. */
  readonly requestedAt?: string | undefined;
  readonly at: Date;
}

/** The event of a refund that is recorded or settled. */
export const refundedEvent = (
  { refundId, amountMinor, orderRefundId, at, ...how }: RefundedMoney,
  { refundedMinor, orderRefundedMinor = 0n }: Pick<ExistingPayment, 'refundedMinor' | 'orderRefundedMinor'>,
): PaymentEvent => ({
  type: 'PaymentRefunded',
  data: withoutUndefined({
    refundId,
    amountMinor: String(amountMinor),
    refundedTotalMinor: String(refundedMinor + amountMinor),
    ...(orderRefundId !== undefined && {
      orderRefundId,
      orderRefundedTotalMinor: String(orderRefundedMinor + amountMinor),
    }),
    reason: how.reason,
    txHash: how.txHash,
    network: how.network,
    asset: how.asset,
    destination: how.destination,
    requestedAt: how.requestedAt,
    at: at.toISOString(),
  }),
});

/** The amount of a new refund. An order that needs the payment loses none of it unless the command says so. Throws an
 *  AppError if the payment cannot be refunded by that much. */
export const amountToRefund = (command: RefundAmount, payment: ExistingPayment): bigint => {
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
  if (left === 0n && reservedMinor(payment) > 0n)
    throw new AppError(
      'nothing_to_refund',
      'requested refunds reserve the rest of the payment: cancel a pending one to refund its amount in another way',
    );
  if (left === 0n) {
    throw new AppError('nothing_to_refund', 'the payment is already fully refunded');
  }
  const amount = command.amountMinor ?? defaultAmountMinor(command.what, payment);
  if (amount <= 0n) throw refusedAmount('must be positive');
  if (amount < left && payment.refunds.length >= MAX_REFUNDS)
    throw new AppError(
      'payment_conflict',
      `the payment already has ${MAX_REFUNDS} refunds, canceled ones included: send "what": "all" to refund the rest`,
    );
  if (amount > left)
    throw new AppError(
      'refund_too_large',
      `only ${fromMinor(left, payment.decimals)} ${payment.currency} of the payment can still be refunded${besideReserved(payment)}`,
    );
  return amount;
};

/** The amount of a refund without `amount`. */
const defaultAmountMinor = (what: RefundAmount['what'], payment: ExistingPayment): bigint => {
  const left = refundableMinor(payment);
  if (what === 'all') return left;
  const dueMinor = unreservedDueMinor(payment);
  if (dueMinor > 0n) return dueMinor;
  if (what === 'surplus') throw new AppError('nothing_to_refund', 'the payment has no surplus that is due for refund');
  throw new AppError(
    'refund_amount_required',
    `the payment has no surplus that is due for refund: send an "amount", or "what": "all" to refund all ` +
      `${fromMinor(left, payment.decimals)} ${payment.currency} that are left`,
  );
};

/** Limits the number of events of a payment and its order. Canceled refunds count too. */
const MAX_REFUNDS = 100;

const refusedAmount = (message: string): AppError => invalidRequest([{ path: 'amount', message }]);
