import {
  type FailPaymentCall,
  type OfferPaymentCall,
  OrderAndOutcomes,
  OrderSummary,
  type RefundPaymentCall,
} from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import type { CallContext, InternalClient } from '@cpg/runtime';

type Told = Promise<OrderAndOutcomes | null>;

/** What payments asks of orders. Null where there is no such order, or it was deleted. Every call may be repeated. */
export interface OrdersClient {
  readonly summary: (orderId: string, context: CallContext) => Promise<OrderSummary | null>;
  readonly offer: (orderId: string, call: OfferPaymentCall, context: CallContext) => Told;
  readonly fail: (orderId: string, call: FailPaymentCall, context: CallContext) => Told;
  readonly refund: (orderId: string, paymentId: string, call: RefundPaymentCall, context: CallContext) => Told;
}

export const ordersClient = (client: InternalClient): OrdersClient => {
  const post = (path: string, body: unknown, context: CallContext): Told =>
    unlessGone(client.call('POST', path, { body, context, response: OrderAndOutcomes }));
  return {
    summary: (id, context) =>
      unlessGone(client.call('GET', `/orders/${id}/summary`, { context, response: OrderSummary })),
    offer: (id, call, context) => post(`/orders/${id}/payments`, call, context),
    fail: (id, call, context) => post(`/orders/${id}/payments/${call.payment.paymentId}/failure`, call, context),
    refund: (id, paymentId, call, context) => post(`/orders/${id}/payments/${paymentId}/refunds`, call, context),
  };
};

const unlessGone = async <T>(answer: Promise<T>): Promise<T | null> => {
  try {
    return await answer;
  } catch (error) {
    if (isAppError(error, 'not_found')) return null;
    throw error;
  }
};
