import {
  type FailPaymentCall,
  nullIfNotFound,
  type OfferPaymentCall,
  OrderAndOutcomes,
  OrderSummary,
  type RefundPaymentCall,
} from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/platform';

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
