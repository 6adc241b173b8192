import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from './currencies.ts';
import { MerchantId, OrderId, PaymentId, RefundId, Timestamp } from './ids.ts';
import { Minor } from './money.ts';
import { Capabilities, Item, Metadata, OrderStatus, OrphanReason, Rates } from './resources.ts';

/** Where to pay, as it was assigned: what of it follows the remaining amount is computed when it is shown. */
export const AssignedInstruction = z.discriminatedUnion('rail', [
  z.object({
    rail: z.literal('crypto_deposit'),
    currency: PaymentCurrency,
    network: z.string(),
    chainId: z.string(),
    asset: z.string(),
    address: z.string(),
    decimals: z.int(),
    requiredConfirmations: z.int(),
    /** Which key made the address: BIP32 fingerprint of the account xpub, and the path below it. */
    derivation: z.object({ fingerprint: z.string(), path: z.string() }),
  }),
  z.object({
    rail: z.literal('gateway_pay'),
    currency: PaymentCurrency,
    provider: z.string(),
    paymentReference: z.string(),
    paymentUrl: z.string(),
  }),
]);
export type AssignedInstruction = z.infer<typeof AssignedInstruction>;

/** A payment as it is offered to its order. */
export const OfferedPayment = z.object({
  paymentId: PaymentId,
  rail: PaymentRail,
  providerId: z.string(),
  currency: PaymentCurrency,
  amountMinor: Minor,
  feeMinor: Minor,
  txHash: z.string().optional(),
  confirmations: z.int().optional(),
  metadata: Metadata.optional(),
  /** When the rail first saw the money: what counts against the order's deadline. */
  seenAt: Timestamp,
  /** When the rail confirmed it. */
  confirmedAt: Timestamp.optional(),
  receivedAt: Timestamp,
});
export type OfferedPayment = z.infer<typeof OfferedPayment>;

/** The status after the event, and why it is that. */
const Transition = { status: OrderStatus, reason: z.string() };

const At = { at: Timestamp };

const Allocation = z.object({ paymentId: PaymentId, appliedMinor: Minor, unappliedMinor: Minor });
export type Allocation = z.infer<typeof Allocation>;

const event = <T extends string, D extends z.ZodType>(type: T, data: D) => z.object({ type: z.literal(type), data });

export const OrderCreated = event(
  'OrderCreated',
  z.object({
    orderId: OrderId,
    merchantId: MerchantId,
    externalReferenceId: z.string(),
    items: z.array(Item),
    rails: z.array(PaymentRail),
    currency: PaymentCurrency,
    capabilities: Capabilities,
    rates: Rates,
    totalMinor: Minor,
    expirationMinutes: z.int(),
    expiresAt: Timestamp,
    metadata: Metadata.optional(),
    /** Absent while a provider is slow: the order is `initialized` until `OrderInstructed`. */
    instructions: z.array(AssignedInstruction).optional(),
    ...Transition,
    ...At,
  }),
);

export const OrderInstructed = event(
  'OrderInstructed',
  z.object({ instructions: z.array(AssignedInstruction), ...Transition, ...At }),
);

/** The order learns of a payment. It stays `received` until it is confirmed and may apply. */
export const OrderPaymentReceived = event(
  'OrderPaymentReceived',
  z.object({ payment: OfferedPayment, confirmed: z.boolean(), ...At }),
);

export const OrderPaymentConfirmed = event(
  'OrderPaymentConfirmed',
  z.object({ paymentId: PaymentId, confirmations: z.int().optional(), confirmedAt: Timestamp.optional(), ...At }),
);

export const OrderPaymentsApplied = event(
  'OrderPaymentsApplied',
  z.object({ allocations: z.array(Allocation).min(1), ...Transition, ...At }),
);

export const OrderPaymentsOrphaned = event(
  'OrderPaymentsOrphaned',
  z.object({ paymentIds: z.array(PaymentId).min(1), orphanReason: OrphanReason, ...At }),
);

/** A payment came to nothing: dropped before it applied, or taken back after (a reorg, a provider's reversal). */
export const OrderPaymentFailed = event(
  'OrderPaymentFailed',
  z.object({ paymentId: PaymentId, failureReason: z.string(), ...Transition, ...At }),
);

export const OrderPaymentRefunded = event(
  'OrderPaymentRefunded',
  z.object({ paymentId: PaymentId, refundId: RefundId, refundedTotalMinor: Minor, ...Transition, ...At }),
);

/** Entry into `paid`, always right after the event that made it so. */
export const OrderPaid = event('OrderPaid', z.object({ reason: z.string(), ...At }));

export const OrderUpdated = event(
  'OrderUpdated',
  z.object({
    metadata: Metadata.optional(),
    expirationMinutes: z.int().optional(),
    expiresAt: Timestamp.optional(),
    ...At,
  }),
);

export const OrderRenewed = event(
  'OrderRenewed',
  z.object({
    rates: Rates,
    totalMinor: Minor,
    /** What all items cost at these rates; the total is less where a part was paid at earlier ones. */
    pricedMinor: Minor.optional(),
    expiresAt: Timestamp,
    renewal: z.int(),
    ...At,
  }),
);

/** The order's clock was put forward, in a sandbox: its deadline, and all that it knows of the past, is that much earlier to it. */
export const OrderTimeAdvanced = event(
  'OrderTimeAdvanced',
  z.object({ minutes: z.int().positive(), expiresAt: Timestamp, ...At }),
);

export const OrderExpired = event(
  'OrderExpired',
  z.object({ orphanedPaymentIds: z.array(PaymentId), ...Transition, ...At }),
);

export const OrderCanceled = event(
  'OrderCanceled',
  z.object({ orphanedPaymentIds: z.array(PaymentId), ...Transition, ...At }),
);

/** The last event of an order's stream before it is tombstoned. */
export const OrderDeleted = event('OrderDeleted', z.object({ reason: z.string(), ...At }));

export const OrderEvent = z.discriminatedUnion('type', [
  OrderCreated,
  OrderInstructed,
  OrderPaymentReceived,
  OrderPaymentConfirmed,
  OrderPaymentsApplied,
  OrderPaymentsOrphaned,
  OrderPaymentFailed,
  OrderPaymentRefunded,
  OrderPaid,
  OrderUpdated,
  OrderRenewed,
  OrderTimeAdvanced,
  OrderExpired,
  OrderCanceled,
  OrderDeleted,
]);
export type OrderEvent = z.infer<typeof OrderEvent>;

/** What stays of a deleted order, on a stream of its own (`deletion-<order id>`): nothing personal or commercial. */
export const OrderDeletionRecorded = event(
  'OrderDeletionRecorded',
  z.object({
    orderId: OrderId,
    merchantId: MerchantId,
    actor: z.string(),
    /** Hash of the last event of the deleted stream, and that event's number. */
    lastHash: z.string(),
    sequence: z.int(),
    ...At,
  }),
);
export type OrderDeletionRecorded = z.infer<typeof OrderDeletionRecorded>;
