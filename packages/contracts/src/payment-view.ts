import { type Rendered, withoutUndefined } from './carried-fields.ts';
import { fromMinor } from './money.ts';
import type { PaymentCurrency, PaymentRail } from './currencies.ts';
import type { Metadata } from './resources/metadata.ts';
import type { BlockRef, OrphanReason, Payment, PaymentStatus } from './resources/payment.ts';

/** A payment as folded from events. Amounts are in minor units; `feeMinor` is at most `amountMinor`. */
export interface PaymentState {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly orderId: string;
  readonly address?: string | undefined;
  readonly rail: PaymentRail;
  readonly providerId: string;
  readonly currency: PaymentCurrency;
  /** Of the minor units of all its amounts. */
  readonly decimals: number;
  /** CAIP-19 of what arrived, where a chain shows it. */
  readonly asset?: string | undefined;
  /** The name that wallets show for it, where it is not the currency. */
  readonly assetLabel?: string | undefined;
  /** False for a token that does not count as the currency. */
  readonly credited?: boolean | undefined;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  /** The part that its order took, and the surplus, as the order shared it out: they add up to the amount while it is
   *  `applied`, and are zero otherwise. Partial refunds do not change them; `paymentBreakdown` subtracts those. */
  readonly appliedMinor: bigint;
  readonly unappliedMinor: bigint;
  /** A surplus below it is not due for refund. 1 by default. */
  readonly smallestPayableMinor?: bigint | undefined;
  readonly refundedMinor: bigint;
  /** The part of it that refunds of the order took: from the applied amount alone. 0 by default. */
  readonly orderRefundedMinor?: bigint | undefined;
  /** The amount of refunds that wait for their transfers. Orders do not know it. 0 by default. */
  readonly reservedMinor?: bigint | undefined;
  readonly status: PaymentStatus;
  /** When the rail confirmed it. */
  readonly confirmedAt?: string | undefined;
  readonly orphanReason?: OrphanReason | undefined;
  readonly failureReason?: string | undefined;
  readonly txHash?: string | undefined;
  readonly confirmations?: number | undefined;
  /** The block that contains it. */
  readonly block?: BlockRef | undefined;
  /** How often its block changed. 0 by default. */
  readonly blockChanges?: number | undefined;
  readonly metadata?: Metadata | undefined;
  readonly seenAt: string;
  /** How often the money was seen: one more each time it is seen again after a failure, and one more when an orphan is
   *  assigned to an order. Events of an earlier sighting no longer count. 1 by default. */
  readonly sighting?: number | undefined;
  /** When its order applied it last, or more of it. It stays when the payment is refunded; undefined once it fails or is
   *  an orphan. */
  readonly appliedAt?: string | undefined;
  /** When all of it was refunded. */
  readonly refundedAt?: string | undefined;
  /** When it failed. Undefined once its rail sees the money again. */
  readonly failedAt?: string | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The amount of a payment by what happened to it, in minor units. The parts always add up to the amount. */
export interface PaymentBreakdown {
  /** Received, and no decision yet. */
  readonly received: bigint;
  readonly applied: bigint;
  /** The surplus that the order did not apply: due for refund, if it can be paid. */
  readonly unapplied: bigint;
  /** Due for refund. */
  readonly orphaned: bigint;
  /** Dropped or reversed by the rail. */
  readonly failed: bigint;
  readonly refunded: bigint;
}

/** Breaks an amount down. A refund of an applied payment takes from the surplus first, and then from the applied
 *  part. A refund of the order leaves the surplus. */
export const paymentBreakdown = (
  payment: Pick<PaymentState, 'status' | 'amountMinor' | 'unappliedMinor' | 'refundedMinor' | 'orderRefundedMinor'>,
): PaymentBreakdown => {
  const { amountMinor, unappliedMinor, refundedMinor: refunded, orderRefundedMinor = 0n } = payment;
  const left = amountMinor - refunded;
  const parts = { received: 0n, applied: 0n, unapplied: 0n, orphaned: 0n, failed: 0n, refunded };
  switch (payment.status) {
    case 'received':
      return { ...parts, received: left };
    case 'applied': {
      // A payment that failed and came back may be applied with less than was refunded of it before.
      const unapplied = between(0n, unappliedMinor - (refunded - orderRefundedMinor), left);
      return { ...parts, unapplied, applied: left - unapplied };
    }
    case 'orphan':
      return { ...parts, orphaned: left };
    case 'failed':
      return { ...parts, failed: left };
    case 'refunded':
      return parts;
  }
};

const between = (least: bigint, value: bigint, most: bigint): bigint =>
  value < least ? least : value > most ? most : value;

/** The amount of a payment to give back: all that is left of an orphan, and a surplus that can be sent. */
export const dueBackMinor = (
  payment: Parameters<typeof paymentBreakdown>[0] & Pick<PaymentState, 'smallestPayableMinor'>,
): bigint => {
  const { orphaned, unapplied } = paymentBreakdown(payment);
  return orphaned + (unapplied < (payment.smallestPayableMinor ?? 1n) ? 0n : unapplied);
};

/** The chain (CAIP-2) that shows the money of a payment, by its provider id: `eip155:1/<hash>:0`. Null for money that
 *  no chain shows. */
export const chainOf = (providerId: string): string | null =>
  /^((?:bip122|eip155):[-\w]{1,32})\//.exec(providerId)?.[1] ?? null;

/** The outside provider that reported a payment, by its provider id: `acme:<id>`. Null for money of another source. */
export const outsideProviderOf = (providerId: string): string | null =>
  chainOf(providerId) === null ? (/^([a-z][a-z0-9-]{0,31}):/.exec(providerId)?.[1] ?? null) : null;

/** How often the rail has seen the money of the payment. */
export const sightingOf = ({ sighting }: { readonly sighting?: number | undefined }): number => sighting ?? 1;

/** The later of two ISO instants. Events about a payment may arrive out of order. */
export const laterOf = (one: string, other: string): string => (one > other ? one : other);

/** The Payment resource. It is the same on its own and inside its order, but for `reserved_amount`. */
export const paymentView = (payment: PaymentState): Payment => {
  const amount = (minor: bigint) => fromMinor(minor, payment.decimals);
  const { applied, unapplied } = paymentBreakdown(payment);
  const dueBack = dueBackMinor(payment);
  const { reservedMinor: reserved = 0n } = payment;
  const view: Rendered<Payment, object> = {
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
    asset: payment.asset,
    asset_label: payment.assetLabel,
    credited: payment.credited === false ? false : undefined,
    metadata: payment.metadata,
    applied_amount: amount(applied),
    unapplied_amount: amount(unapplied),
    refunded_amount: amount(payment.refundedMinor),
    reserved_amount: reserved > 0n ? amount(reserved) : undefined,
    due_back_amount: dueBack > 0n ? amount(dueBack) : undefined,
    orphan_reason: payment.status === 'orphan' ? payment.orphanReason : undefined,
    failure_reason: payment.failureReason,
    tx_hash: payment.txHash,
    confirmations: payment.confirmations,
    block: payment.block && { height: payment.block.height, hash: payment.block.hash },
    applied_at: payment.appliedAt,
    refunded_at: payment.refundedAt,
    failed_at: payment.failedAt,
    created_at: payment.createdAt,
    updated_at: payment.updatedAt,
  };
  return withoutUndefined(view) as Payment;
};
