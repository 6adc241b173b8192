import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from './currencies.ts';
import { MerchantId, PaymentId, RefundId, Timestamp } from './ids.ts';
import { Minor } from './money.ts';
import { Metadata, OrphanReason } from './resources.ts';

const At = { at: Timestamp };

const event = <T extends string, D extends z.ZodType>(type: T, data: D) => z.object({ type: z.literal(type), data });

export const PaymentReceived = event(
  'PaymentReceived',
  z.object({
    paymentId: PaymentId,
    merchantId: MerchantId,
    /** What the money named: an order, or an address that is no order's. */
    orderId: z.string(),
    /** Where it came to, when that is all its rail knew. */
    address: z.string().optional(),
    rail: PaymentRail,
    providerId: z.string(),
    currency: PaymentCurrency,
    amountMinor: Minor,
    feeMinor: Minor,
    /** Version of the fee schedule that `feeMinor` was computed by. */
    feeSchedule: z.string(),
    confirmed: z.boolean(),
    txHash: z.string().optional(),
    confirmations: z.int().optional(),
    metadata: Metadata.optional(),
    seenAt: Timestamp,
    ...At,
  }),
);

export const PaymentConfirmed = event('PaymentConfirmed', z.object({ confirmations: z.int().optional(), ...At }));

export const PaymentApplied = event(
  'PaymentApplied',
  z.object({ orderId: z.string(), appliedMinor: Minor, unappliedMinor: Minor, ...At }),
);

export const PaymentOrphaned = event('PaymentOrphaned', z.object({ orphanReason: OrphanReason, ...At }));

export const PaymentFailed = event('PaymentFailed', z.object({ failureReason: z.string(), ...At }));

export const PaymentRefunded = event(
  'PaymentRefunded',
  z.object({
    refundId: RefundId,
    amountMinor: Minor,
    refundedTotalMinor: Minor,
    reason: z.string().optional(),
    ...At,
  }),
);

export const PaymentEvent = z.discriminatedUnion('type', [
  PaymentReceived,
  PaymentConfirmed,
  PaymentApplied,
  PaymentOrphaned,
  PaymentFailed,
  PaymentRefunded,
]);
export type PaymentEvent = z.infer<typeof PaymentEvent>;
