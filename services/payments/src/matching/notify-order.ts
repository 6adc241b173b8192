import {
  AppError,
  type FailPaymentCall,
  nullIfNotFound,
  type OfferPaymentCall,
  type Order,
  OrderAndOutcomes,
  OrderSummary,
  type PaymentOffer,
  type PaymentOutcome,
  type RefundPaymentCall,
} from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/platform';
import { type ExistingPayment, isWithoutOrder } from '../payment/state.ts';
import { paymentResource } from '../payment/view.ts';
import type { PaymentCommands } from './commands.ts';

interface NotifiedPayment {
  /** The payment after it recorded the order's decision. */
  readonly payment: ExistingPayment;
  /** Null when the order does not exist. */
  readonly order: Order | null;
}

/** Sends the state of a payment to its order and records what the order decides. Idempotent: the order repeats its
 *  decision, so the next call recovers a lost response. When no call gets through, the services reach the same result
 *  through Kafka. */
export type NotifyOrder = (payment: ExistingPayment, context: CallContext) => Promise<NotifiedPayment>;

export const orderNotifier =
  ({
    commands,
    orders,
    isOrderRecorded,
    now,
  }: {
    commands: Pick<PaymentCommands, 'recordOutcomes'>;
    orders: OrdersClient;
    /** Whether the event store has the order, and it is not deleted. */
    isOrderRecorded: (orderId: string) => Promise<boolean>;
    now: () => Date;
  }): NotifyOrder =>
  async (payment, context) => {
    const answer = await send(orders, payment, context);
    // A 404 may also come from a wrong address or from another service. Money must not become an orphan for that.
    if (!answer && !isWithoutOrder(payment) && (await isOrderRecorded(payment.orderId)))
      throw new AppError('internal_error', `orders does not know ${payment.orderId}: check ORDERS_URL`, {
        answeredBy: 'orders',
      });
    const outcomes = answer ? answer.outcomes : outcomesWithoutOrder(payment, now());
    const recorded = await commands.recordOutcomes(outcomes, context);
    // The order may have decided about other payments too.
    const own = recorded.find(({ paymentId }) => paymentId === payment.paymentId);
    return { payment: own ?? payment, order: answer?.order ?? null };
  };

/** Null when the order does not exist. */
const send = async (
  orders: OrdersClient,
  payment: ExistingPayment,
  context: CallContext,
): Promise<OrderAndOutcomes | null> => {
  const {
    orderId,
    paymentId,
    status,
    failureReason,
    refundedMinor,
    orderRefundedMinor,
    lastRefundId,
    appliedAt,
    updatedAt: at,
  } = payment;
  if (isWithoutOrder(payment)) return null;
  if (status === 'failed')
    return orders.fail(orderId, { ...offerOf(payment), failure_reason: failureReason!, at }, context);
  // A refunded payment that failed and was seen again is `received`: its order has to decide anew.
  if (refundedMinor > 0n && status !== 'received') {
    const refund = {
      refund_id: lastRefundId!,
      refunded_total_minor: String(refundedMinor),
      ...(orderRefundedMinor !== undefined && { order_refunded_total_minor: String(orderRefundedMinor) }),
      ...(appliedAt !== undefined && { applied_at: appliedAt }),
      at,
    };
    return orders.refund(orderId, paymentId, refund, context);
  }
  return orders.offer(orderId, offerOf(payment), context);
};

const offerOf = (payment: ExistingPayment): PaymentOffer => ({
  payment: paymentResource(payment),
  seen_at: payment.seenAt,
  confirmed_at: payment.confirmedAt,
  ...(payment.sighting !== undefined && { sighting: payment.sighting }),
  ...(payment.blockChanges !== undefined && { block_changes: payment.blockChanges }),
});

/** A confirmed payment whose order does not exist becomes an orphan. With `sighting`, the outcome is ignored if the
 *  payment was seen again or assigned meanwhile. */
const outcomesWithoutOrder = (
  { paymentId, status, confirmedAt, sighting }: ExistingPayment,
  at: Date,
): PaymentOutcome[] =>
  status === 'received' && confirmedAt !== undefined
    ? [{ status: 'orphan', payment_id: paymentId, orphan_reason: 'unknown_order', sighting, at: at.toISOString() }]
    : [];

type Answer = Promise<OrderAndOutcomes | null>;

/** Calls to the orders service. They resolve to null when the order does not exist or was deleted. All are
 *  idempotent. */
export interface OrdersClient {
  readonly summary: (orderId: string, context: CallContext) => Promise<OrderSummary | null>;
  readonly offer: (orderId: string, call: OfferPaymentCall, context: CallContext) => Answer;
  readonly fail: (orderId: string, call: FailPaymentCall, context: CallContext) => Answer;
  readonly refund: (orderId: string, paymentId: string, call: RefundPaymentCall, context: CallContext) => Answer;
}

export const ordersClient = (client: InternalClient): OrdersClient => {
  const post = (path: string, body: unknown, context: CallContext): Answer =>
    nullIfNotFound(client.call('POST', path, { body, context, response: OrderAndOutcomes }));
  return {
    summary: (id, context) =>
      nullIfNotFound(client.call('GET', `/orders/${id}/summary`, { context, response: OrderSummary })),
    offer: (id, call, context) => post(`/orders/${id}/payments`, call, context),
    fail: (id, call, context) => post(`/orders/${id}/payments/${call.payment.id}/failure`, call, context),
    refund: (id, paymentId, call, context) => post(`/orders/${id}/payments/${paymentId}/refunds`, call, context),
  };
};
