import { z } from 'zod';
import { ItemCurrency, PaymentCurrency, PaymentRail } from './currencies.ts';
import { defineEvent, type EventOf, newEvent, openObject, recordedEvent } from './event-definition.ts';
import { MerchantId, OrderId, OrderRefundId, PaymentId, RefundId, Timestamp } from './ids.ts';
import { Decimals, Minor } from './money.ts';
import { OfferedPayment, RecordedOfferedPayment } from './payment-offer.ts';
import {
  AssignedInstruction,
  RecordedBlock,
  RecordedCapabilities,
  RecordedItem,
  RecordedMetadata,
  RecordedRates,
} from './recorded-values.ts';
import { Capabilities } from './resources/capabilities.ts';
import { ItemDto } from './resources/item.ts';
import { MetadataDto } from './resources/metadata.ts';
import { OrderDetails, OrderStatus, Rates } from './resources/order.ts';
import { OrphanReason } from './resources/payment.ts';

/** The names of the streams of orders start with this prefix; the id of the order follows. */
export const ORDER_STREAM_PREFIX = 'order-';
export const orderStreamOf = (orderId: string): string => `${ORDER_STREAM_PREFIX}${orderId}`;

/** The status after the event, and the reason for it. */
const Transition = { status: OrderStatus, reason: z.string() };

/** When the order recorded the event. An earlier instant, at which it happened elsewhere, has its own field. */
const At = { at: Timestamp };

/** Whether the service did not trust its clock, so that `at` may be wrong. */
const ClockDoubted = { clockDoubted: z.literal(true).optional() };

/** Per payment id: the sighting of a payment that the rail has seen more than once. */
const Sightings = { sightings: z.record(z.string(), z.int()).optional() };

const Allocation = openObject({
  paymentId: PaymentId,
  appliedMinor: Minor,
  unappliedMinor: Minor,
  /** The smallest amount that can be sent: a surplus below it is not due for refund. Absent without a surplus, and if
   *  every amount can be sent. */
  smallestPayableMinor: Minor.optional(),
});
export type Allocation = z.infer<typeof Allocation>;

export const OrderCreated = defineEvent({
  type: 'OrderCreated',
  message: 'order.created',
  webhooks: ['order:created'],
  summary: 'An order was created. Its total amount and its rates are locked.',
  data: {
    orderId: OrderId,
    merchantId: MerchantId,
    ...OrderDetails.recorded,
    items: z.array(RecordedItem),
    rails: z.array(PaymentRail),
    currency: PaymentCurrency,
    /** Decimals of the minor units of the order. They stay, whatever the configuration is later. */
    decimals: Decimals,
    capabilities: RecordedCapabilities,
    rates: RecordedRates,
    totalMinor: Minor,
    /** The part of the total that may be missing, in hundredths of a percent. None by default. */
    toleranceBps: z.int().optional(),
    expirationMinutes: z.int(),
    expiresAt: Timestamp,
    /** Until when the rates are locked. `expiresAt` by default. */
    ratesExpireAt: Timestamp.optional(),
    /** Absent while a provider is slow: the order is `initialized` until `OrderInstructed`. */
    instructions: z.array(AssignedInstruction).optional(),
    ...ClockDoubted,
    ...Transition,
    ...At,
  },
  limits: { items: z.array(ItemDto), capabilities: Capabilities, rates: Rates },
});

export const OrderInstructed = defineEvent({
  type: 'OrderInstructed',
  message: 'order.instructed',
  webhooks: ['order:updated'],
  summary: 'An order that was created without deposit instructions received them.',
  data: { instructions: z.array(AssignedInstruction), ...ClockDoubted, ...Transition, ...At },
});

/** The order knows about a payment. The payment stays `received` until it is confirmed and may be applied. */
export const OrderPaymentReceived = defineEvent({
  type: 'OrderPaymentReceived',
  message: 'order.payment_received',
  webhooks: ['order:updated'],
  summary: 'A payment was offered to an order. It does not count until it is confirmed and applied.',
  data: { payment: RecordedOfferedPayment, confirmed: z.boolean(), ...At },
  limits: { payment: OfferedPayment },
});

export const OrderPaymentConfirmed = defineEvent({
  type: 'OrderPaymentConfirmed',
  message: 'order.payment_confirmed',
  webhooks: ['order:updated'],
  summary: 'The rail confirmed a payment of an order.',
  data: { paymentId: PaymentId, confirmations: z.int().optional(), confirmedAt: Timestamp.optional(), ...At },
});

export const OrderPaymentBlockChanged = defineEvent({
  type: 'OrderPaymentBlockChanged',
  message: 'order.payment_block_changed',
  webhooks: ['order:updated'],
  summary: 'A block contains a payment of an order, another block than before, or none any more.',
  data: {
    paymentId: PaymentId,
    block: RecordedBlock.optional(),
    confirmations: z.int().optional(),
    blockChanges: z.int(),
    /** The payment lost the confirmation of its earlier block. */
    unconfirmed: z.boolean().optional(),
    /** When payments recorded it. */
    changedAt: Timestamp,
    ...At,
  },
});

export const OrderPaymentsApplied = defineEvent({
  type: 'OrderPaymentsApplied',
  message: 'order.payments_applied',
  webhooks: ['order:updated'],
  summary:
    'Payments were applied to their order: their amounts replace earlier ones. They determine the status of the order and its remaining amount.',
  data: {
    /** None where a new price left a rest that needs no payment. */
    allocations: z.array(Allocation),
    /** The missing amount of an order that is settled with less than its total. Absent if nothing is. */
    shortfallMinor: Minor.optional(),
    ...Sightings,
    ...Transition,
    ...At,
  },
});

export const OrderPaymentsOrphaned = defineEvent({
  type: 'OrderPaymentsOrphaned',
  message: 'order.payments_orphaned',
  webhooks: ['order:updated'],
  summary: 'Payments became orphans: they are due for refund.',
  data: { paymentIds: z.array(PaymentId).min(1), orphanReason: OrphanReason, ...Sightings, ...At },
});

export const OrderPaymentFailed = defineEvent({
  type: 'OrderPaymentFailed',
  message: 'order.payment_failed',
  webhooks: ['order:updated'],
  summary: 'A payment failed: its rail dropped it before it was applied, or reversed it afterwards.',
  data: {
    paymentId: PaymentId,
    failureReason: z.string(),
    failedAt: Timestamp,
    sighting: z.int().optional(),
    ...Transition,
    ...At,
  },
});

export const OrderPaymentReinstated = defineEvent({
  type: 'OrderPaymentReinstated',
  message: 'order.payment_reinstated',
  webhooks: ['order:updated'],
  summary: 'The rail saw the money of a failed payment again. It does not count until it is confirmed and applied.',
  data: {
    paymentId: PaymentId,
    sighting: z.int(),
    reinstatedAt: Timestamp,
    confirmed: z.boolean(),
    confirmedAt: Timestamp.optional(),
    confirmations: z.int().optional(),
    block: RecordedBlock.optional(),
    blockChanges: z.int().optional(),
    ...At,
  },
});

export const OrderPaymentRefunded = defineEvent({
  type: 'OrderPaymentRefunded',
  message: 'order.payment_refunded',
  webhooks: ['order:updated'],
  summary: 'A payment of an order was refunded, in full or in part.',
  data: {
    paymentId: PaymentId,
    refundId: RefundId,
    refundedTotalMinor: Minor,
    /** Of a part of a refund of the order: the sum of such parts. */
    orderRefundedTotalMinor: Minor.optional(),
    refundedAt: Timestamp,
    /** Of a payment that is refunded in full: when it recorded that the order applied it. Absent if it never did. */
    appliedAt: Timestamp.optional(),
    /** The part of the payment that still counts for the order. Absent if the refund took nothing out of the order. */
    appliedMinor: Minor.optional(),
    ...Transition,
    ...At,
  },
});

export const OrderRefunded = defineEvent({
  type: 'OrderRefunded',
  message: 'order.refunded',
  webhooks: ['order:updated'],
  summary:
    'The merchant recorded a refund of an order, over one or more payments. A message follows for each part, when its payment has it.',
  data: {
    orderRefundId: OrderRefundId,
    amountMinor: Minor,
    /** As the request named it, if that was not in the currency of the order. */
    requestedAmount: z.string().optional(),
    requestedCurrency: ItemCurrency.optional(),
    reason: z.string().optional(),
    /** Each is a refund of a payment. They add up to the amount. */
    parts: z.array(openObject({ refundId: RefundId, paymentId: PaymentId, amountMinor: Minor })),
    ...At,
  },
});

/** Entry into `paid`. It always follows directly after the event that caused it. */
export const OrderPaid = defineEvent({
  type: 'OrderPaid',
  message: 'order.paid',
  webhooks: ['order:paid'],
  summary: 'An order became paid. This message follows the message of the event that caused it.',
  data: { reason: z.string(), ...At },
});

export const OrderAccepted = defineEvent({
  type: 'OrderAccepted',
  message: 'order.accepted',
  webhooks: ['order:updated'],
  summary: 'The merchant accepted an order as paid with less than its total.',
  data: {
    /** The missing amount that the merchant accepted. */
    shortfallMinor: Minor,
    /** Why, in the words of the merchant. */
    acceptedBecause: z.string(),
    ...Transition,
    ...At,
  },
});

export const OrderUpdated = defineEvent({
  type: 'OrderUpdated',
  message: 'order.updated',
  webhooks: ['order:updated'],
  summary: 'The merchant changed the metadata, the deadline or the items of an order.',
  data: {
    /** All metadata after the change. */
    metadata: RecordedMetadata.optional(),
    /** All items after the change. `rates` and `totalMinor` come with them. */
    items: z.array(RecordedItem).optional(),
    rates: RecordedRates.optional(),
    totalMinor: Minor.optional(),
    expirationMinutes: z.int().optional(),
    expiresAt: Timestamp.optional(),
    /** Until when the rates are locked now. `expiresAt` by default. */
    ratesExpireAt: Timestamp.optional(),
    ...At,
  },
  limits: { metadata: MetadataDto.optional(), items: z.array(ItemDto).optional(), rates: Rates.optional() },
});

export const OrderRenewed = defineEvent({
  type: 'OrderRenewed',
  message: 'order.renewed',
  webhooks: ['order:updated'],
  summary:
    'An order was renewed at its deadline, or when its rates ended: new rates, a new total amount and perhaps a later deadline.',
  data: {
    rates: RecordedRates,
    totalMinor: Minor,
    /** The price of all items at these rates. The total is lower if a part was paid at earlier rates. */
    pricedMinor: Minor.optional(),
    expiresAt: Timestamp,
    /** Until when the rates are locked. `expiresAt` by default. */
    ratesExpireAt: Timestamp.optional(),
    renewal: z.int(),
    ...At,
  },
  limits: { rates: Rates },
});

/** Sandbox only: the clock of the order moved forward. The instants of its payments become earlier by `minutes` too. */
export const OrderTimeAdvanced = defineEvent({
  type: 'OrderTimeAdvanced',
  message: 'order.time_advanced',
  webhooks: ['order:updated'],
  summary: 'The clock of a sandbox order was advanced. Its deadline is earlier by that time.',
  data: { minutes: z.int().positive(), expiresAt: Timestamp, ratesExpireAt: Timestamp.optional(), ...At },
});

export const OrderExpired = defineEvent({
  type: 'OrderExpired',
  message: 'order.expired',
  webhooks: ['order:updated'],
  summary: 'An order expired at its deadline.',
  data: {
    orphanedPaymentIds: z.array(PaymentId),
    /** Per payment id. `late` by default. */
    orphanReasons: z.record(z.string(), OrphanReason).optional(),
    ...Sightings,
    ...Transition,
    ...At,
  },
});

export const OrderCanceled = defineEvent({
  type: 'OrderCanceled',
  message: 'order.canceled',
  webhooks: ['order:updated'],
  summary: 'The merchant canceled an order.',
  data: { orphanedPaymentIds: z.array(PaymentId), ...Sightings, ...Transition, ...At },
});

/** The last event before the stream is tombstoned. `OrderDeletionRecorded` is published in its place. */
export const OrderDeleted = defineEvent({
  type: 'OrderDeleted',
  message: null,
  webhooks: [],
  summary: 'The merchant deleted an order.',
  data: { reason: z.string(), ...At },
});

/** Every event of an order's stream. A new event is added here; the compiler names the other places. */
export const ORDER_EVENTS = [
  OrderCreated,
  OrderInstructed,
  OrderPaymentReceived,
  OrderPaymentConfirmed,
  OrderPaymentBlockChanged,
  OrderPaymentsApplied,
  OrderPaymentsOrphaned,
  OrderPaymentFailed,
  OrderPaymentReinstated,
  OrderPaymentRefunded,
  OrderRefunded,
  OrderPaid,
  OrderAccepted,
  OrderUpdated,
  OrderRenewed,
  OrderTimeAdvanced,
  OrderExpired,
  OrderCanceled,
  OrderDeleted,
] as const;

export const OrderEvent = recordedEvent(ORDER_EVENTS);
export type OrderEvent = EventOf<(typeof ORDER_EVENTS)[number]>;
export const NewOrderEvent = newEvent(ORDER_EVENTS);
