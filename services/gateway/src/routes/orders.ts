import {
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
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OrdersClient } from '../clients/orders.ts';
import { ListQuery } from '../list-query.ts';
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

const params = pathId('order', 'ord');
const tags = ['Orders'];

/** `/v1/orders`: commands go to the orders service, reads to its read model. */
export const orderRoutes: FastifyPluginAsyncZod<{ orders: OrdersClient; pool: Pool }> = async (
  app,
  { orders, pool },
) => {
  const refOf = (request: Parameters<typeof callerOf>[0], id: string) => ({
    orderId: idIn(OrderId, 'order', id),
    merchantId: callerOf(request).merchantId,
  });

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
      schema: { operationId: 'getOrder', summary: 'Read an order', tags, params, response: { 200: Order } },
    },
    async (request) => {
      const { orderId, merchantId } = refOf(request, request.params.id);
      return found('order', await orderById(pool, merchantId, orderId));
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
