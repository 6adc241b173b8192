import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from './currencies.ts';
import { MerchantId, OrderId, PaymentId, RefundId, Timestamp } from './ids.ts';
import { Amount, Minor } from './money.ts';
import { PaymentOffer } from './payment-offer.ts';
import { AssignedInstruction } from './recorded-values.ts';
import { MetadataDto } from './resources/metadata.ts';
import { type MerchantCreateOrderDto, Order, OrderStatus, UpdateOrderDto } from './resources/order.ts';
import { BlockRef, OrphanReason, Payment } from './resources/payment.ts';
import { WebhookEventType } from './resources/webhook.ts';

/** Headers of every call between services. */
export const INTERNAL_HEADERS = {
  /** Bearer INTERNAL_TOKEN. */
  authorization: 'authorization',
  requestId: 'x-request-id',
  /** The caller that caused the request: `key:<kid>`, `service:<name>` or `debug`. */
  actor: 'x-actor',
  correlationId: 'x-correlation-id',
  /** Milliseconds that the caller still waits for the response. */
  deadline: 'x-deadline-ms',
} as const;

// ---- orders -------------------------------------------------------------------------------------------------------

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isLine = (line: unknown): boolean =>
  isObject(line) &&
  typeof line.name === 'string' &&
  typeof line.quantity === 'number' &&
  typeof line.unit_price === 'string' &&
  typeof line.currency === 'string' &&
  (line.modifiers === undefined || (Array.isArray(line.modifiers) && line.modifiers.every(isLine)));

/** An order that the gateway validated. Only its shape is checked again; its values are when they are recorded. */
const ValidatedOrder = z.custom<MerchantCreateOrderDto>(
  (order) =>
    isObject(order) &&
    typeof order.external_reference_id === 'string' &&
    Array.isArray(order.items) &&
    order.items.every(isLine) &&
    Array.isArray(order.enable_rails) &&
    typeof order.payment_currency === 'string' &&
    isObject(order.capabilities) &&
    (order.expiration_minutes === undefined || typeof order.expiration_minutes === 'number') &&
    (order.return_url === undefined || typeof order.return_url === 'string') &&
    (order.cancel_url === undefined || typeof order.cancel_url === 'string') &&
    (order.metadata === undefined || isObject(order.metadata)),
  { error: 'is not an order' },
);

/** `POST /orders` -> 201 Order, with its path as `location`. The caller chooses the id, so a repeat creates no second
 *  order: it gets the order as it was after its first event, with `idempotency-replayed` if another request created it.
 *  `request_hash` is the fingerprint of a request with an Idempotency-Key, from which the id is derived: 422
 *  `idempotency_key_reused` for another fingerprint, 410 `order_deleted`, and another order when the key has expired.
 *  With `only_repeat` nothing is created: 404 if there is no earlier order. */
export const CreateOrderCall = z.object({
  order_id: OrderId,
  merchant_id: MerchantId,
  order: ValidatedOrder,
  request_hash: z.string().optional(),
  only_repeat: z.boolean().optional(),
});
export type CreateOrderCall = z.infer<typeof CreateOrderCall>;

/** `POST /orders/:id/cancel`, `POST /orders/:id/capture` -> 200 Order; `DELETE /orders/:id` -> 200 OrderDeletion. */
export const OrderCall = z.object({ merchant_id: MerchantId });
export type OrderCall = z.infer<typeof OrderCall>;

export const MAX_ADVANCE_MINUTES = 43_200;

/** `POST /orders/:id/time` -> 200 Order, expired or renewed if that is due now. Sandbox only: it replaces waiting. A
 *  repeat with the same `x-request-id` does not advance the time again. */
export const AdvanceTimeCall = z.object({ minutes: z.int().min(1).max(MAX_ADVANCE_MINUTES) });
export type AdvanceTimeCall = z.infer<typeof AdvanceTimeCall>;

/** `PATCH /orders/:id` -> 200 Order. A repeat with the same `x-request-id` changes nothing. */
export const UpdateOrderCall = z.object({ merchant_id: MerchantId, changes: UpdateOrderDto });
export type UpdateOrderCall = z.infer<typeof UpdateOrderCall>;

export const OrderDeletion = z.object({ id: OrderId, deleted: z.literal(true) });

/** `GET /orders/:id/summary` -> 200 OrderSummary. 404 if the order is unknown or deleted. */
export const OrderSummary = z.object({
  id: OrderId,
  merchant_id: MerchantId,
  currency: PaymentCurrency,
  /** Absent in answers of earlier versions. */
  status: OrderStatus.optional(),
});
export type OrderSummary = z.infer<typeof OrderSummary>;

/** The sighting that a decision is about, for a payment that the rail has seen more than once. */
const Sighting = { sighting: z.int().optional() };

/** The decision of an order on one of its payments. */
export const PaymentOutcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('received'), payment_id: PaymentId }),
  z.object({
    status: z.literal('applied'),
    payment_id: PaymentId,
    applied_minor: Minor,
    unapplied_minor: Minor,
    ...Sighting,
    at: Timestamp,
  }),
  z.object({
    status: z.literal('orphan'),
    payment_id: PaymentId,
    orphan_reason: OrphanReason,
    ...Sighting,
    at: Timestamp,
  }),
  z.object({ status: z.literal('failed'), payment_id: PaymentId }),
  z.object({ status: z.literal('refunded'), payment_id: PaymentId }),
]);
export type PaymentOutcome = z.infer<typeof PaymentOutcome>;

/** `POST /orders/:id/payments` -> 200 OrderAndOutcomes. Idempotent by payment id; 404 when the order is unknown or
 *  deleted. */
export const OfferPaymentCall = PaymentOffer;
export type OfferPaymentCall = PaymentOffer;

/** `POST /orders/:id/payments/:payment_id/failure` -> 200 OrderAndOutcomes. */
export const FailPaymentCall = PaymentOffer.extend({ failure_reason: z.string(), at: Timestamp });
export type FailPaymentCall = z.infer<typeof FailPaymentCall>;

/** `POST /orders/:id/payments/:payment_id/refunds` -> 200 OrderAndOutcomes. */
export const RefundPaymentCall = z.object({ refund_id: RefundId, refunded_total_minor: Minor, at: Timestamp });
export type RefundPaymentCall = z.infer<typeof RefundPaymentCall>;

/** The order after the call, and the outcome of every payment that the call names or changes. */
export const OrderAndOutcomes = z.object({ order: Order, outcomes: z.array(PaymentOutcome) });
export type OrderAndOutcomes = z.infer<typeof OrderAndOutcomes>;

// ---- payments -----------------------------------------------------------------------------------------------------

/** `POST /instructions` -> 200 Instructions. Idempotent by order id: the same order gets the same addresses. */
export const InstructionsCall = z.object({
  order_id: OrderId,
  merchant_id: MerchantId,
  currency: PaymentCurrency,
  rails: z.array(PaymentRail).min(1),
  /** The total of the order. Absent in calls of earlier versions. */
  amount_minor: Minor.optional(),
});
export type InstructionsCall = z.infer<typeof InstructionsCall>;

/** How long leased payables may be put into an order, counted from before the call. Both sides use monotonic clocks. */
const LeaseMs = z.int().nonnegative();

/** Without `lease_ms` the instructions belong to the order already. */
export const Instructions = z.object({ instructions: z.array(AssignedInstruction), lease_ms: LeaseMs.optional() });
export type Instructions = z.infer<typeof Instructions>;

const MAX_LEASED = 256;

/** `POST /stock` -> 200 Stock. Leases payables in advance, so that orders can put them into orders without a call. No
 *  other call gets the same ones, unless the lease ended and no order has them. Not idempotent: what a lost answer
 *  leased stays unused until its lease ends. */
export const StockCall = z.object({
  /** How many addresses of each network. */
  addresses: z.record(z.string(), z.int().min(1).max(MAX_LEASED)),
  /** How many references of each provider. */
  references: z.int().min(0).max(MAX_LEASED),
  /** Whether the caller adds deposit addresses to references that need them. Earlier versions do not. */
  adds_deposits: z.boolean().optional(),
});
export type StockCall = z.infer<typeof StockCall>;

export const LeasedAddress = z.object({
  address: z.string(),
  derivation: z.object({ fingerprint: z.string(), path: z.string() }),
});
export type LeasedAddress = z.infer<typeof LeasedAddress>;

export const LeasedReference = z.object({
  payment_reference: z.string(),
  payment_url: z.string(),
  /** The networks whose addresses take the money: the order adds one of each that can take its amount, at least one.
   *  Absent: the reference needs no address. */
  networks: z.array(z.string()).optional(),
});
export type LeasedReference = z.infer<typeof LeasedReference>;

export const Stock = z.object({
  lease_ms: LeaseMs,
  /** By network. A network that payments does not have is absent. */
  addresses: z.record(z.string(), z.array(LeasedAddress)),
  /** By provider, and all providers. Null if one of them has to register each order. */
  references: z.record(z.string(), z.array(LeasedReference)).nullable(),
});
export type Stock = z.infer<typeof Stock>;

/** Blocks from the payment's own one to the tip of the chain: 0 before it is mined, 1 in the newest block. */
const Confirmations = z.int().nonnegative();

/** `POST /payments` -> 201 RegisteredPayment. A rail reports a payment that names its order or its deposit address. The
 *  same (rail, provider id) again is the same payment; with another order, address, amount or currency it is 409
 *  `payment_conflict`. A failed payment is received again: the rail saw its money once more. A chain reports each
 *  deposit as `crypto_deposit`; it is recorded as a payment of `gateway_pay` if the address belongs to a payment page. */
export const RegisterPaymentCall = z
  .object({
    order_id: z.string().min(1).max(128).optional(),
    address: z.string().min(1).max(128).optional(),
    rail: PaymentRail,
    provider_id: z.string().min(1).max(256),
    amount: Amount,
    currency: PaymentCurrency,
    confirmed: z.boolean(),
    /** Whether this report makes a failed payment received again; true by default. */
    reinstates: z.boolean().optional(),
    tx_hash: z.string().min(1).max(256).optional(),
    /** When the rail first saw the money: the time of its block, or of an earlier sighting. By default, the time of the
     *  call. A later instant counts as the time of the call, because clocks of miners run ahead. An earlier one is
     *  never too early: the order only compares it with its deadline. Ignored in a repeat. */
    seen_at: z.iso.datetime().optional(),
    /** The block that contains the payment; absent before it is mined. A repeat with another block, or none, is the
     *  same payment in its new place. */
    block: BlockRef.optional(),
    confirmations: Confirmations.optional(),
    metadata: MetadataDto.optional(),
  })
  .refine(({ order_id, address }) => (order_id === undefined) !== (address === undefined), {
    path: ['order_id'],
    message: 'give either the order id or the address, not both',
  });
export type RegisterPaymentCall = z.infer<typeof RegisterPaymentCall>;

/** `POST /payments/:id/confirmation` -> 200 RegisteredPayment. The rail confirms the payment. Idempotent; 409
 *  `payment_conflict` for a failed payment. */
export const ConfirmationCall = z.object({ confirmations: Confirmations.optional(), block: BlockRef.optional() });
export type ConfirmationCall = z.infer<typeof ConfirmationCall>;

/** `POST /payments/:id/failure` -> 200 RegisteredPayment. The rail dropped the payment, or reversed it after it was
 *  applied. Idempotent; 409 `payment_conflict` for a refunded payment. The default reason is `dropped` or `reorg`. */
export const FailureCall = z.object({ failure_reason: z.string().min(1).max(256).optional() });
export type FailureCall = z.infer<typeof FailureCall>;

/** `POST /payments/:id/refunds` -> 200 RegisteredPayment. Refunds `amount`, or all that is left. Idempotent by refund
 *  id. 404 for another merchant's payment; 409 `nothing_to_refund` if nothing is left, `refund_too_large` for more than
 *  is left, `payment_conflict` for a received or failed payment; 400 with the path `amount` if the amount is invalid or
 *  exceeds the rest. `order` is null also while orders is unavailable: orders then receives the refund from Kafka. */
export const RefundCall = z.object({
  merchant_id: MerchantId,
  refund_id: RefundId,
  amount: Amount.optional(),
  reason: z.string().min(1).max(256).optional(),
});
export type RefundCall = z.infer<typeof RefundCall>;

/** A payment after a call, and its order. `order` is null if the payment names no known order. */
export const RegisteredPayment = z.object({ payment: Payment, order: Order.nullable() });
export type RegisteredPayment = z.infer<typeof RegisteredPayment>;

/** `POST /outcomes` -> 204. The decisions of an order on its payments (capture, cancellation, expiry). Idempotent. */
export const OutcomesCall = z.object({ outcomes: z.array(PaymentOutcome) });
export type OutcomesCall = z.infer<typeof OutcomesCall>;

/** `POST /orders/:id/unsettled-payment` -> 200 UnsettledPayment. A payment of the order that is received, or an orphan
 *  that is not refunded, other than those that the order holds. `payment_id` is null if there is none. */
export const UnsettledPaymentCall = z.object({ held_by_order: z.array(PaymentId) });
export type UnsettledPaymentCall = z.infer<typeof UnsettledPaymentCall>;

export const UnsettledPayment = z.object({ payment_id: PaymentId.nullable() });

/** `POST /chains/waiting` -> 200 ChainsWaiting. Which of these networks may still show a payment that was made until
 *  `at`: those with a watcher that has not reported everything up to then. */
export const ChainsWaitingCall = z.object({ networks: z.array(z.string()).min(1).max(64), at: z.iso.datetime() });
export type ChainsWaitingCall = z.infer<typeof ChainsWaitingCall>;

export const ChainsWaiting = z.object({ waiting_for: z.array(z.string()) });

/** `DELETE /orders/:id/payments` -> 204. Deletes the payments of a deleted order. Idempotent. */

// ---- webhook-dispatcher -------------------------------------------------------------------------------------------

/** `POST /test-deliveries` -> 201 TestDelivery. */
export const TestDeliveryCall = z.object({ webhook_id: z.string(), event_type: WebhookEventType });
export type TestDeliveryCall = z.infer<typeof TestDeliveryCall>;

export const TestDelivery = z.object({ delivery_id: z.string() });
export type TestDelivery = z.infer<typeof TestDelivery>;

/** `DELETE /webhooks/:id/deliveries` -> 204. Fails the queued deliveries of a deleted webhook. Idempotent. */

/** `POST /webhooks/:id/deliveries/:delivery_id/redelivery` -> 204. Requeues the delivery and restarts its retry
 *  schedule. A repeat sends nothing more while the redelivery is queued; after that, it sends the delivery once more.
 *  404 if the webhook has no such delivery; 409 `webhook_disabled`, and `delivery_expired` if its body is no longer
 *  stored. */

/** `POST /webhooks/:id/replays` -> 201 Replay. Idempotent by replay id. 409 `webhook_disabled`, and `replay_running`
 *  while an earlier replay of the webhook is still queuing events; `dependency_unavailable` if the dispatcher has no
 *  URLs of orders and payments. */
export const ReplayCall = z.object({
  replay_id: z.string(),
  from_date: Timestamp,
  to_date: Timestamp,
  event_types: z.array(WebhookEventType).min(1),
});
export type ReplayCall = z.infer<typeof ReplayCall>;
