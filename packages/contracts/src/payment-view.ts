import type { PaymentCurrency, PaymentRail } from './currencies.ts';
import { fromMinor } from './money.ts';
import type { Metadata, OrphanReason, Payment, PaymentStatus } from './resources.ts';

/** A payment as an aggregate holds it: amounts in minor units, `feeMinor` not more than `amountMinor`. */
export interface PaymentState {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly orderId: string;
  readonly rail: PaymentRail;
  readonly providerId: string;
  readonly currency: PaymentCurrency;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly appliedMinor: bigint;
  readonly unappliedMinor: bigint;
  readonly refundedMinor: bigint;
  readonly status: PaymentStatus;
  /** Whether its rail has confirmed it. */
  readonly confirmed: boolean;
  readonly orphanReason?: OrphanReason | undefined;
  readonly failureReason?: string | undefined;
  readonly txHash?: string | undefined;
  readonly confirmations?: number | undefined;
  readonly metadata?: Metadata | undefined;
  readonly seenAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A payment as the API shows it, the same by itself and inside its order. */
export const paymentView = (payment: PaymentState): Payment => {
  const amount = (minor: bigint) => fromMinor(minor, payment.currency);
  return {
    id: payment.paymentId,
    merchant_id: payment.merchantId,
    order_id: payment.orderId,
    status: payment.status,
    payment_rail: payment.rail,
    provider_id: payment.providerId,
    paid_amount: amount(payment.amountMinor),
    fee_amount: amount(payment.feeMinor),
    net_amount: amount(payment.amountMinor - payment.feeMinor),
    currency: payment.currency,
    ...(payment.metadata && { metadata: payment.metadata }),
    ...(payment.status === 'applied' && { applied_amount: amount(payment.appliedMinor) }),
    ...(payment.unappliedMinor > 0n && { unapplied_amount: amount(payment.unappliedMinor) }),
    ...(payment.refundedMinor > 0n && { refunded_amount: amount(payment.refundedMinor) }),
    ...(payment.orphanReason && { orphan_reason: payment.orphanReason }),
    ...(payment.failureReason && { failure_reason: payment.failureReason }),
    ...(payment.txHash && { tx_hash: payment.txHash }),
    ...(payment.confirmations !== undefined && { confirmations: payment.confirmations }),
    created_at: payment.createdAt,
    updated_at: payment.updatedAt,
  };
};
