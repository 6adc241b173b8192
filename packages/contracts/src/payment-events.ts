import { z } from 'zod';
import { defineEvent, type EventOf, newEvent, recordedEvent } from './event-definition.ts';
import { MerchantId, OrderId, OrderRefundId, PaymentId, RefundId, Timestamp } from './ids.ts';
import { Minor } from './money.ts';
import { NewOrderReference, RecordedOrderReference } from './order-reference.ts';
import { RecordedBlock, RecordedMetadata, RecordedMoney } from './recorded-values.ts';
import { MetadataDto } from './resources/metadata.ts';
import { OrphanReason } from './resources/payment.ts';

/** The names of the streams of payments start with this prefix; the id of the payment follows. */
export const PAYMENT_STREAM_PREFIX = 'payment-';

/** When it happened. Every event has it. */
const At = { at: Timestamp };

/** For orders that do not know the payment yet: which sighting it is (1 by default), when the rail first saw it, and
 *  how often its block changed. */
const Seen = { sighting: z.int().optional(), seenAt: Timestamp, blockChanges: z.int().optional() };

/** How the merchant knows the order of the payment, at this event. Absent if the payment belongs to no order. */
const KnownOrder = { order: RecordedOrderReference.optional() };

/** The statement of an operator about a decision. */
const Statement = z.string().min(1).max(500);

export const PaymentReceived = defineEvent({
  type: 'PaymentReceived',
  message: 'payment.received',
  webhooks: ['payment:received'],
  summary: 'A rail saw a payment.',
  data: {
    paymentId: PaymentId,
    merchantId: MerchantId,
    /** The order that the payment names, or the deposit address if that address belongs to no order. */
    orderId: z.string(),
    ...KnownOrder,
    /** The deposit address, when the rail knows the address and not the order. */
    address: z.string().optional(),
    ...RecordedMoney,
    /** Version of the fee schedule used to compute `feeMinor`. */
    feeSchedule: z.string(),
    confirmed: z.boolean(),
    txHash: z.string().optional(),
    confirmations: z.int().optional(),
    block: RecordedBlock.optional(),
    metadata: RecordedMetadata.optional(),
    seenAt: Timestamp,
    ...At,
  },
  limits: { order: NewOrderReference.optional(), metadata: MetadataDto.optional() },
});

export const PaymentConfirmed = defineEvent({
  type: 'PaymentConfirmed',
  message: 'payment.confirmed',
  webhooks: [],
  summary: 'The rail of a payment confirmed it.',
  data: { confirmations: z.int().optional(), ...Seen, ...At },
});

/** The payment was mined after it was received, mined again in another block, or is in no block any more. */
export const PaymentBlockChanged = defineEvent({
  type: 'PaymentBlockChanged',
  message: 'payment.block_changed',
  webhooks: [],
  summary: 'A block contains a payment, another block than before, or none any more.',
  data: {
    block: RecordedBlock.optional(),
    confirmations: z.int(),
    ...Seen,
    /** How often the block changed by now: 1 the first time. */
    blockChanges: z.int(),
    /** The payment lost the confirmation of its earlier block. */
    unconfirmed: z.boolean().optional(),
    ...At,
  },
});

export const PaymentApplied = defineEvent({
  type: 'PaymentApplied',
  message: 'payment.applied',
  webhooks: ['payment:applied'],
  summary: 'A payment was applied to its order, or more of it than before.',
  data: {
    orderId: z.string(),
    appliedMinor: Minor,
    unappliedMinor: Minor,
    /** A surplus below it is not due for refund. Absent without a surplus, and if every amount can be sent. */
    smallestPayableMinor: Minor.optional(),
    ...At,
  },
});

export const PaymentOrphaned = defineEvent({
  type: 'PaymentOrphaned',
  message: 'payment.orphaned',
  webhooks: ['payment:orphaned'],
  summary: 'A payment could not be applied and is due for refund.',
  data: { orphanReason: OrphanReason, ...At },
});

export const PaymentFailed = defineEvent({
  type: 'PaymentFailed',
  message: 'payment.failed',
  webhooks: ['payment:failed'],
  summary: 'A payment failed: its rail dropped it, or reversed it afterwards.',
  data: { failureReason: z.string(), ...Seen, ...At },
});

/** The rail saw the money of a failed payment again, for example mined once more after a chain reorganization. */
export const PaymentReinstated = defineEvent({
  type: 'PaymentReinstated',
  message: 'payment.reinstated',
  webhooks: ['payment:received'],
  summary: 'The rail of a failed payment saw its money again. The payment is received once more.',
  data: {
    /** How often the rail has seen the money by now: 2 after the first failure. */
    sighting: z.int(),
    seenAt: Timestamp,
    confirmed: z.boolean(),
    confirmations: z.int().optional(),
    block: RecordedBlock.optional(),
    blockChanges: z.int().optional(),
    ...At,
  },
});

export const PaymentRefunded = defineEvent({
  type: 'PaymentRefunded',
  message: 'payment.refunded',
  webhooks: ['payment:refunded'],
  summary: 'The merchant recorded that it paid a payment back, in full or in part, or the chain proves it.',
  data: {
    refundId: RefundId,
    amountMinor: Minor,
    refundedTotalMinor: Minor,
    /** Of a part of a refund of the order, which leaves the surplus: that refund, and the sum of such parts. */
    orderRefundId: OrderRefundId.optional(),
    orderRefundedTotalMinor: Minor.optional(),
    reason: z.string().optional(),
    /** The operator who marked unclaimed money as returned. */
    by: z.string().optional(),
    /** How the money went back, as far as it is known: the transaction, its network, and the address that it paid. Of
     *  money that went back through a provider, what the merchant wrote. */
    txHash: z.string().optional(),
    network: z.string().optional(),
    destination: z.string().optional(),
    /** Of a refund that its chain proves: the coin or token (CAIP-19), and when the merchant requested it. */
    asset: z.string().optional(),
    requestedAt: Timestamp.optional(),
    ...At,
  },
  limits: {
    by: Statement.optional(),
    txHash: Statement.optional(),
    network: Statement.optional(),
    destination: Statement.optional(),
  },
});

export const PaymentRefundRequested = defineEvent({
  type: 'PaymentRefundRequested',
  message: 'payment.refund_requested',
  webhooks: [],
  summary: 'The merchant refunds from its own wallet. The amount is reserved until the refund is settled or canceled.',
  data: {
    refundId: RefundId,
    amountMinor: Minor,
    reason: z.string().optional(),
    network: z.string(),
    /** CAIP-19 of the coin or token to send. */
    asset: z.string(),
    ...At,
  },
});

export const PaymentRefundAddressed = defineEvent({
  type: 'PaymentRefundAddressed',
  message: 'payment.refund_addressed',
  webhooks: [],
  summary: 'A requested refund got the address of the payer. Its chain is followed from now on.',
  data: {
    refundId: RefundId,
    destination: z.string(),
    /** The declared refund addresses of the merchant: a transfer from one of them is the refund. */
    senders: z.array(z.string()),
    /** The height of the chain at that time: transfers up to this block are not the refund. */
    afterHeight: z.int().nonnegative(),
    ...At,
  },
});

/** The link on which the payer can enter the address of a refund. A later one replaces it. */
export const PaymentRefundClaimIssued = defineEvent({
  type: 'PaymentRefundClaimIssued',
  message: 'payment.refund_claim_issued',
  webhooks: [],
  summary: 'A requested refund got a claim link, on which the payer can enter an address. Earlier links of it end.',
  data: {
    refundId: RefundId,
    /** SHA-256 of the token in the link, in hexadecimal. The token is stored nowhere. */
    tokenHash: z.string(),
    /** Whether the payment page of the order has the link too. */
    onPage: z.boolean(),
    expiresAt: Timestamp,
    ...At,
  },
});

export const PaymentRefundClaimed = defineEvent({
  type: 'PaymentRefundClaimed',
  message: 'payment.refund_claimed',
  webhooks: ['payment:refund_claimed'],
  summary: 'The payer confirmed an address for a requested refund. Its chain is followed from now on.',
  data: {
    refundId: RefundId,
    amountMinor: Minor,
    reason: z.string().optional(),
    network: z.string(),
    /** CAIP-19 of the coin or token to send. */
    asset: z.string(),
    destination: z.string(),
    senders: z.array(z.string()),
    afterHeight: z.int().nonnegative(),
    requestedAt: Timestamp,
    ...At,
  },
});

export const PaymentRefundSent = defineEvent({
  type: 'PaymentRefundSent',
  message: 'payment.refund_sent',
  webhooks: [],
  summary: 'A block contains the transfer of a requested refund.',
  data: {
    refundId: RefundId,
    /** The position of the transfer in its chain: a transaction can have several. */
    transferId: z.string(),
    txHash: z.string(),
    ...At,
  },
});

export const PaymentRefundReopened = defineEvent({
  type: 'PaymentRefundReopened',
  message: 'payment.refund_reopened',
  webhooks: [],
  summary: 'The transfer of a refund left the chain before it was final. The refund is pending again.',
  data: { refundId: RefundId, ...At },
});

export const PaymentRefundCanceled = defineEvent({
  type: 'PaymentRefundCanceled',
  message: 'payment.refund_canceled',
  webhooks: [],
  summary: 'A pending refund was canceled, or its payment failed. Its amount is no longer reserved.',
  data: { refundId: RefundId, ...At },
});

/** Unclaimed money got an owner: it came for no order that exists. Assigned to an order, that order decides on it.
 *  Assigned to a merchant alone, it stays an orphan. */
export const PaymentAssigned = defineEvent({
  type: 'PaymentAssigned',
  message: 'payment.assigned',
  webhooks: ['payment:received'],
  summary:
    'An operator assigned money that came for no known order to an order, or to a merchant. It is received once more.',
  data: {
    merchantId: MerchantId,
    /** Absent if it was assigned to the merchant alone. */
    orderId: OrderId.optional(),
    ...KnownOrder,
    reason: z.string(),
    /** The person who decided. */
    by: z.string(),
    /** One more than before: decisions about the earlier sighting do not concern the new owner. */
    sighting: z.int(),
    seenAt: Timestamp,
    confirmedAt: Timestamp,
    blockChanges: z.int().optional(),
    ...At,
  },
  limits: { order: NewOrderReference.optional(), reason: Statement, by: Statement },
});

/** Every event of a payment's stream. A new event is added here; the compiler names the other places. */
export const PAYMENT_EVENTS = [
  PaymentReceived,
  PaymentConfirmed,
  PaymentBlockChanged,
  PaymentApplied,
  PaymentOrphaned,
  PaymentFailed,
  PaymentReinstated,
  PaymentRefunded,
  PaymentAssigned,
  PaymentRefundRequested,
  PaymentRefundAddressed,
  PaymentRefundSent,
  PaymentRefundReopened,
  PaymentRefundCanceled,
  PaymentRefundClaimIssued,
  PaymentRefundClaimed,
] as const;

export const PaymentEvent = recordedEvent(PAYMENT_EVENTS);
export type PaymentEvent = EventOf<(typeof PAYMENT_EVENTS)[number]>;

export const NewPaymentEvent = newEvent(PAYMENT_EVENTS);
