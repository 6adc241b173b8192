import { z } from 'zod';
import { withExample } from '../example.ts';
import { PaymentCurrency, PaymentRail, RefundCurrency } from '../currencies.ts';
import { EXAMPLE_IDS, MerchantId, OrderId, OrderRefundId, PaymentId, RefundId, Timestamp } from '../ids.ts';
import { AmountDto, Minor } from '../money.ts';
import { PaymentOffer } from '../payment-offer.ts';
import { AcceptedCurrency } from '../resources/currencies.ts';
import { CancelOrderDto, type NewOrder, Order, OrderStatus, type UpdateOrderDto } from '../resources/order.ts';
import { OrphanReason } from '../resources/payment.ts';

// Calls that the orders service answers.

/** A value that the gateway has validated. The orders service checks only the values that it records. */
const validated = <T extends object>() =>
  z.custom<T>((value) => typeof value === 'object' && value !== null, { error: 'is not an object' });

/** `POST /orders` -> 201 Order, with its path as `location`. The caller chooses the id, so a repeat
 *  creates no second order: it gets the order as it was after its first event, with
 *  `idempotency-replayed` if another request created it. `request_hash` is the fingerprint of a
 *  request with an Idempotency-Key, from which the id is derived: 422 `idempotency_key_reused` for
 *  another fingerprint, 410 `order_deleted`, and another order when the key has expired. With
 *  `only_repeat` nothing is created: 404 if there is no earlier order. */
export const CreateOrderCall = z.object({
  order_id: OrderId,
  merchant_id: MerchantId,
  order: validated<NewOrder>(),
  request_hash: z.string().optional(),
  only_repeat: z.boolean().optional(),
});
export type CreateOrderCall = z.infer<typeof CreateOrderCall>;

/** `GET /currencies` -> 200 PayableCurrencies: what every rail takes, and the limits at the rates of now. */
export const PayableCurrencies = z.object({ payment_currencies: z.array(AcceptedCurrency) });
export type PayableCurrencies = z.infer<typeof PayableCurrencies>;

/** `POST /orders/:id/capture` -> 200 Order; `DELETE /orders/:id` -> 200 OrderDeletion. */
export const OrderCall = z.object({ merchant_id: MerchantId });
export type OrderCall = z.infer<typeof OrderCall>;

/** `POST /orders/:id/accept` -> 200 Order, paid. */
export const AcceptOrderCall = OrderCall.extend({ reason: z.string() });
export type AcceptOrderCall = z.infer<typeof AcceptOrderCall>;

/** `POST /orders/:id/cancel` -> 200 Order. With `if_unpaid` 409 `payment_in_progress` once money was seen. A repeat with
 *  the same `x-request-id` changes nothing. */
export const CancelOrderCall = OrderCall.extend(CancelOrderDto.shape);
export type CancelOrderCall = z.infer<typeof CancelOrderCall>;

/** `POST /orders/:id/refund` -> 200 OrderRefund. Idempotent by the id of the refund. */
export const RefundOrderCall = z.object({
  merchant_id: MerchantId,
  order_refund_id: OrderRefundId,
  amount: AmountDto,
  /** That of the order by default. */
  currency: RefundCurrency.optional(),
  reason: z.string().optional(),
});
export type RefundOrderCall = z.infer<typeof RefundOrderCall>;

export const MAX_ADVANCE_MINUTES = 43_200;

/** `POST /orders/:id/time` -> 200 Order, expired or renewed if that is due now. Sandbox only: it
 *  replaces waiting. A repeat with the same `x-request-id` does not advance the time again. */
export const AdvanceTimeCall = z.object({
  minutes: z.int().min(1).max(MAX_ADVANCE_MINUTES).describe('How far to advance the clock of the order, in minutes.'),
});
export type AdvanceTimeCall = z.infer<typeof AdvanceTimeCall>;

/** `PATCH /orders/:id` -> 200 Order. A repeat with the same `x-request-id` changes nothing. */
export const UpdateOrderCall = z.object({ merchant_id: MerchantId, changes: validated<UpdateOrderDto>() });
export type UpdateOrderCall = z.infer<typeof UpdateOrderCall>;

export const OrderDeletion = withExample(
  z.object({
    id: OrderId.describe('The order that was deleted.'),
    deleted: z.literal(true).describe('Always `true`.'),
  }),
  { id: EXAMPLE_IDS.order, deleted: true },
);

/** `GET /orders/:id/summary` -> 200 OrderSummary. 404 if the order is unknown or deleted. */
export const OrderSummary = z.object({
  id: OrderId,
  merchant_id: MerchantId,
  currency: PaymentCurrency,
  status: OrderStatus,
  rails: z.array(PaymentRail),
});
export type OrderSummary = z.infer<typeof OrderSummary>;

/** Number of the sighting that a decision is about, for a payment that its rail saw more than once: 1 is the first. */
const Sighting = { sighting: z.int().optional() };

/** The decision of an order on one of its payments. */
export const PaymentOutcome = z.discriminatedUnion('status', [
  z.object({ status: z.literal('received'), payment_id: PaymentId }),
  z.object({
    status: z.literal('applied'),
    payment_id: PaymentId,
    applied_minor: Minor,
    unapplied_minor: Minor,
    smallest_payable_minor: Minor.optional(),
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

/** `POST /orders/:id/payments` -> 200 OrderAndOutcomes. Idempotent by payment id; 404 when the
 *  order is unknown or deleted. */
export const OfferPaymentCall = PaymentOffer;
export type OfferPaymentCall = PaymentOffer;

/** `POST /orders/:id/payments/:payment_id/failure` -> 200 OrderAndOutcomes. */
export const FailPaymentCall = PaymentOffer.extend({ failure_reason: z.string(), at: Timestamp });
export type FailPaymentCall = z.infer<typeof FailPaymentCall>;

/** `POST /orders/:id/payments/:payment_id/refunds` -> 200 OrderAndOutcomes. `order_refunded_total_minor` is the sum of
 *  the parts of refunds of the order among them. `applied_at` is that of the payment. */
export const RefundPaymentCall = z.object({
  refund_id: RefundId,
  refunded_total_minor: Minor,
  order_refunded_total_minor: Minor.optional(),
  applied_at: Timestamp.optional(),
  at: Timestamp,
});
export type RefundPaymentCall = z.infer<typeof RefundPaymentCall>;

/** The order after the call, and the outcome of every payment that the call names or changes. */
export const OrderAndOutcomes = z.object({ order: Order, outcomes: z.array(PaymentOutcome) });
export type OrderAndOutcomes = z.infer<typeof OrderAndOutcomes>;
