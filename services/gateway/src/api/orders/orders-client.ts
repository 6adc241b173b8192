import {
  type AcceptOrder,
  type AdvanceTimeCall,
  type CancelOrderDto,
  type CreateOrderCall,
  type HistoryQuery,
  isAppError,
  nullIfNotFound,
  Order,
  OrderDeletion,
  OrderRefund,
  OrderSummary,
  PayableCurrencies,
  RecordedHistory,
  type RefundOrderCall,
  type UpdateOrderDto,
} from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/platform';
import type { z } from 'zod';
import { goneError } from '../../door/idempotency/idempotency-key.ts';
import { withNotFound } from '../ids.ts';

/** An order and its merchant. The orders service returns 404 if the order belongs to another merchant. */
export interface OrderRef {
  readonly orderId: string;
  readonly merchantId: string;
}

export interface CreatedOrder {
  /** The Order as JSON. */
  readonly text: string;
  /** `/orders/<id>`: a key that has expired names another order than before. */
  readonly path: string;
  readonly isRepeat: boolean;
}

export type OrderDeletion = z.infer<typeof OrderDeletion>;

/** Calls to the orders service. All can be repeated: orders recognises the request id of a repeat. */
export const ordersClient = (client: InternalClient) => {
  const post = (ref: OrderRef, verb: string, how: object, context: CallContext): Promise<Order> => {
    const body = { ...owner(ref), ...how };
    return withNotFound(
      'order',
      client.call('POST', `/orders/${ref.orderId}/${verb}`, { context, response: Order, body }),
    );
  };

  return {
    /** A repeat after the order was deleted throws `order_deleted`. */
    create: async (body: CreateOrderCall, context: CallContext): Promise<CreatedOrder> => {
      try {
        const { text, headers } = await client.callForText('POST', '/orders', { context, body });
        const { location = `/orders/${body.order_id}` } = headers;
        return { text, path: location, isRepeat: headers['idempotency-replayed'] !== undefined };
      } catch (error) {
        throw isAppError(error, 'not_found') && !body.only_repeat ? goneError(body.order_id) : error;
      }
    },
    update: (ref: OrderRef, changes: UpdateOrderDto, context: CallContext): Promise<Order> =>
      withNotFound(
        'order',
        client.call('PATCH', `/orders/${ref.orderId}`, { context, response: Order, body: { ...owner(ref), changes } }),
      ),
    cancel: (ref: OrderRef, how: CancelOrderDto, context: CallContext) => post(ref, 'cancel', how, context),
    accept: (ref: OrderRef, how: AcceptOrder, context: CallContext) => post(ref, 'accept', how, context),
    /** Records the refund of an order over its payments. The id of the refund makes a repeat harmless. */
    refund: (ref: OrderRef, refund: Omit<RefundOrderCall, 'merchant_id'>, context: CallContext): Promise<OrderRefund> =>
      withNotFound(
        'order',
        client.call('POST', `/orders/${ref.orderId}/refund`, {
          context,
          response: OrderRefund,
          body: { ...owner(ref), ...refund },
        }),
      ),
    capture: (ref: OrderRef, context: CallContext) => post(ref, 'capture', {}, context),
    /** Advances the order's clock and processes what becomes due. Sandboxes only. */
    advanceTime: (orderId: string, call: AdvanceTimeCall, context: CallContext): Promise<Order> =>
      withNotFound('order', client.call('POST', `/orders/${orderId}/time`, { context, response: Order, body: call })),
    /** Deletes the order. A repeat, also one by this client after its connection broke, throws `not_found`. */
    remove: (ref: OrderRef, context: CallContext): Promise<OrderDeletion> =>
      withNotFound(
        'order',
        client.call('DELETE', `/orders/${ref.orderId}`, {
          context,
          response: OrderDeletion,
          body: owner(ref),
        }),
      ),
    /** One page of the recorded events of an order. */
    history: (orderId: string, query: HistoryQuery, context: CallContext): Promise<RecordedHistory> =>
      client.call('GET', `/orders/${orderId}/history`, { context, query, response: RecordedHistory }),
    /** The order as it was at `instant` (ISO 8601); null if it did not exist. */
    at: (orderId: string, instant: string, context: CallContext): Promise<Order | null> =>
      nullIfNotFound(
        client.call('GET', `/orders/${orderId}/state`, { context, query: { at: instant }, response: Order }),
      ),
    /** What new orders can be priced and paid in now. */
    currencies: (context: CallContext): Promise<PayableCurrencies> =>
      client.call('GET', '/currencies', { context, response: PayableCurrencies }),
    /** Null if the order does not exist or is deleted. */
    summary: (orderId: string, context: CallContext): Promise<OrderSummary | null> =>
      nullIfNotFound(client.call('GET', `/orders/${orderId}/summary`, { context, response: OrderSummary })),
  };
};

export type OrdersClient = ReturnType<typeof ordersClient>;

const owner = ({ merchantId }: OrderRef) => ({ merchant_id: merchantId });
