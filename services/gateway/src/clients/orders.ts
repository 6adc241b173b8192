import {
  type AdvanceTimeCall,
  type CreateOrderCall,
  type HistoryQuery,
  type MerchantCreateOrderDto,
  Order,
  OrderDeletion,
  RecordedHistory,
  type UpdateOrderDto,
} from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import type { CallContext, InternalClient } from '@cpg/runtime';
import type { z } from 'zod';
import { notFound } from '../not-found.ts';

/** Which order of which merchant, and on whose behalf. */
export interface OrderRef {
  readonly orderId: string;
  readonly merchantId: string;
}

export type OrderDeletion = z.infer<typeof OrderDeletion>;

/** Commands to the service that owns the orders. Unless it says otherwise, each can be sent again without a second effect. */
export const ordersClient = (client: InternalClient) => {
  const post = (ref: OrderRef, verb: string, context: CallContext): Promise<Order> =>
    known(client.call('POST', `/orders/${ref.orderId}/${verb}`, { context, response: Order, body: owner(ref) }));

  return {
    create: (ref: OrderRef, order: MerchantCreateOrderDto, context: CallContext): Promise<Order> =>
      client.call('POST', '/orders', {
        context,
        response: Order,
        body: { order_id: ref.orderId, merchant_id: ref.merchantId, order } satisfies CreateOrderCall,
      }),
    update: (ref: OrderRef, changes: UpdateOrderDto, context: CallContext): Promise<Order> =>
      known(
        client.call('PATCH', `/orders/${ref.orderId}`, { context, response: Order, body: { ...owner(ref), changes } }),
      ),
    cancel: (ref: OrderRef, context: CallContext) => post(ref, 'cancel', context),
    capture: (ref: OrderRef, context: CallContext) => post(ref, 'capture', context),
    /** Puts the order's clock forward, and does what falls due by it. Sandboxes only; again is further forward. */
    advanceTime: (orderId: string, call: AdvanceTimeCall, context: CallContext): Promise<Order> =>
      known(
        client.call('POST', `/orders/${orderId}/time`, { context, response: Order, body: call, idempotent: false }),
      ),
    /** Again, it is not found. */
    remove: (ref: OrderRef, context: CallContext): Promise<OrderDeletion> =>
      known(
        client.call('DELETE', `/orders/${ref.orderId}`, {
          context,
          response: OrderDeletion,
          body: owner(ref),
          idempotent: false,
        }),
      ),
    /** What is recorded of an order. */
    history: (orderId: string, query: HistoryQuery, context: CallContext): Promise<RecordedHistory> =>
      client.call('GET', `/orders/${orderId}/history`, { context, query, response: RecordedHistory }),
    /** The order as it was recorded by an instant; null before it was there. */
    at: async (orderId: string, instant: string, context: CallContext): Promise<Order | null> => {
      try {
        return await client.call('GET', `/orders/${orderId}/state`, {
          context,
          query: { at: instant },
          response: Order,
        });
      } catch (error) {
        if (isAppError(error, 'not_found')) return null;
        throw error;
      }
    },
  };
};

export type OrdersClient = ReturnType<typeof ordersClient>;

const owner = ({ merchantId }: OrderRef) => ({ merchant_id: merchantId });

/** The answer for an unknown order is the API's own. */
const known = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    throw isAppError(error, 'not_found') ? notFound('order') : error;
  }
};
