import {
  HistoryEntry,
  MerchantCreateOrderDto,
  Order,
  OrderDeletion,
  OrderId,
  OrderStatus,
  pageOf,
  PaymentCurrency,
  UpdateOrderDto,
} from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '@cpg/core';
import { invalidRequest } from '@cpg/runtime';
import type { OrdersClient } from '../clients/orders.ts';
import type { PaymentsClient } from '../clients/payments.ts';
import { historyOf, isoWithin } from '../history.ts';
import { Instant, ListQuery } from '../list-query.ts';
import { found, idIn } from '../not-found.ts';
import { listOrders, orderById } from '../queries/orders.ts';
import { callerOf, contextOf } from '../request.ts';
import { checkPaymentMethods } from './payment-methods.ts';
import { NoBody, pathId } from './parameters.ts';

export const OrderPage = pageOf(Order);

const OrderListQuery = z.strictObject({
  ...ListQuery.shape,
  status: OrderStatus.optional(),
  external_reference_id: z.string().min(1).max(128).optional().describe('Exactly this reference of the merchant.'),
  currency: PaymentCurrency.optional(),
});

const StateQuery = z.object({
  at: Instant.optional().describe(
    'With what happened up to this instant, read from its events. Without it, as it is now.',
  ),
});

export const HistoryQuery = z.strictObject({
  after: z.string().min(1).max(128).optional().describe('The `next` of the page before.'),
});

export const OrderHistoryPage = z.object({
  items: z.array(HistoryEntry),
  next: z.string().optional().describe('Where the next page begins, for `after`; absent on the last one.'),
});

const params = pathId('order', 'ord');
const tags = ['Orders'];

export interface OrderRouteOptions {
  readonly orders: OrdersClient;
  readonly payments: PaymentsClient;
  readonly pool: Pool;
}

/** `/v1/orders`: commands go to the orders service, reads to its read model. */
export const orderRoutes: FastifyPluginAsyncZod<OrderRouteOptions> = async (app, { orders, payments, pool }) => {
  const readHistory = historyOf({ orders, payments });
  const refOf = (request: Parameters<typeof callerOf>[0], id: string) => ({
    orderId: idIn(OrderId, 'order', id),
    merchantId: callerOf(request).merchantId,
  });

  const ownOrder = async (request: FastifyRequest, id: string): Promise<Order> => {
    const { orderId, merchantId } = refOf(request, id);
    return found('order', await orderById(pool, merchantId, orderId));
  };

  app.post(
    '/orders',
    {
      config: { scope: 'orders:self:create' },
      schema: {
        operationId: 'createOrder',
        summary: 'Create an order',
        description:
          'Locks the rates of the item currencies, computes the amount due in `payment_currency`, and answers with the instructions for paying it. The order is `initialized` only while a provider is slow; it is `awaiting_payment` otherwise.',
        tags,
        body: MerchantCreateOrderDto,
        response: { 201: Order },
      },
    },
    async (request, reply) => {
      const { merchantId, paymentMethods } = callerOf(request);
      checkPaymentMethods(request.body, paymentMethods);
      const ref = { orderId: `ord_${request.seed}`, merchantId };
      return reply.code(201).send(await orders.create(ref, request.body, contextOf(request)));
    },
  );

  app.get(
    '/orders',
    {
      config: { scope: 'orders:self:read' },
      schema: {
        operationId: 'listOrders',
        summary: 'List orders',
        description: 'The orders of the merchant, by creation time. Stop when `page >= totalPages`.',
        tags,
        querystring: OrderListQuery,
        response: { 200: OrderPage },
      },
    },
    (request) => listOrders(pool, callerOf(request).merchantId, request.query),
  );

  app.get(
    '/orders/:id',
    {
      config: { scope: 'orders:self:read' },
      schema: {
        operationId: 'getOrder',
        summary: 'Read an order',
        description: 'As it is now, or as it was `at` an instant: 404 `not_found` when it was not there yet.',
        tags,
        params,
        querystring: StateQuery,
        response: { 200: Order },
      },
    },
    async (request) => {
      const { at } = request.query;
      const order = await ownOrder(request, request.params.id);
      if (!at) return order;
      const then = await orders.at(order.id, isoWithin(at), contextOf(request));
      if (!then) throw new AppError('not_found', 'the order was not there yet');
      return then;
    },
  );

  app.get(
    '/orders/:id/history',
    {
      config: { scope: 'orders:self:read' },
      schema: {
        operationId: 'listOrderHistory',
        summary: 'What happened to an order',
        description:
          'Every event of the order and of its payments, oldest first, as it is recorded: what, when, by whom, in which request, and because of what. Each stream is chained by hashes, so whoever keeps one can prove later that nothing before it was changed. Stop when there is no `next`.',
        tags,
        params,
        querystring: HistoryQuery,
        response: { 200: OrderHistoryPage },
      },
    },
    async (request) => {
      const { id } = await ownOrder(request, request.params.id);
      const { messages, more } = await readHistory(id, placeIn(request.query.after), contextOf(request));
      return {
        items: messages.map(({ message }) => message),
        ...(more && { next: cursorOf(messages.at(-1)!.place) }),
      };
    },
  );

  app.patch(
    '/orders/:id',
    {
      config: { scope: 'orders:self:update' },
      schema: {
        operationId: 'updateOrder',
        summary: 'Change an order',
        description:
          'Changes `metadata`, and `expiration_minutes` while the order is open. Needs the capability `can_update`, otherwise 409 `update_not_allowed`.',
        tags,
        params,
        body: UpdateOrderDto,
        response: { 200: Order },
      },
    },
    (request) => orders.update(refOf(request, request.params.id), request.body, contextOf(request)),
  );

  app.delete(
    '/orders/:id',
    {
      config: { scope: 'orders:self:delete' },
      schema: {
        operationId: 'deleteOrder',
        summary: 'Delete an order',
        description:
          'Removes the order and its payment data for good; this cannot be undone. 409 `order_has_unsettled_funds` while money of the payer is on it.',
        tags,
        params,
        body: NoBody,
        response: { 200: OrderDeletion },
      },
    },
    (request) => orders.remove(refOf(request, request.params.id), contextOf(request)),
  );

  app.post(
    '/orders/:id/cancel',
    {
      config: { scope: 'orders:self:update' },
      schema: {
        operationId: 'cancelOrder',
        summary: 'Cancel an order',
        description:
          'The order stops accepting payments; what was paid is due for refund. Needs the capability `can_cancel`. A canceled order is answered unchanged; one that is paid or expired is 409.',
        tags,
        params,
        body: NoBody,
        response: { 201: Order },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await orders.cancel(refOf(request, request.params.id), contextOf(request))),
  );

  app.post(
    '/orders/:id/capture',
    {
      config: { scope: 'orders:self:update' },
      schema: {
        operationId: 'captureOrder',
        summary: 'Capture what was paid',
        description:
          'Applies every payment that is held and every one that came late, whatever the flags say; the status follows from the sum. With nothing pending the order is answered unchanged; a canceled order is 409.',
        tags,
        params,
        body: NoBody,
        response: { 201: Order },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await orders.capture(refOf(request, request.params.id), contextOf(request))),
  );
};

const PLACE = /^[\x20-\x7e]+$/;

const cursorOf = (place: string): string => Buffer.from(place).toString('base64url');

const placeIn = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const place = Buffer.from(cursor, 'base64url').toString();
  if (!PLACE.test(place) || cursorOf(place) !== cursor)
    throw invalidRequest([{ path: 'after', message: 'must be the `next` of an earlier answer' }]);
  return place;
};
