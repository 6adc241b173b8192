import {
  AdvanceTimeCall,
  CreateOrderCall,
  FailPaymentCall,
  HistoryOrders,
  HistoryOrdersQuery,
  HistoryQuery,
  OfferPaymentCall,
  Order,
  OrderAndOutcomes,
  OrderCall,
  OrderDeletion,
  OrderHistory,
  OrderStateQuery,
  OrderSummary,
  RecordedHistory,
  RefundPaymentCall,
  UpdateOrderCall,
} from '@cpg/contracts';
import { AppError } from '@cpg/core';
import { type CallContext, readCallContext, type Logger } from '@cpg/runtime';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PaymentsClient } from './clients/payments.ts';
import type { OrderCommands, OrderHandler, RunResult } from './commands.ts';
import type { Deletion } from './deletion.ts';
import type { OrderPast } from './history.ts';
import type { OrderCommand } from './order/command.ts';
import { type ExistingOrder, exists } from './order/state.ts';
import { orderView } from './order/view.ts';

export interface OrderRoutes {
  readonly commands: OrderCommands;
  readonly handler: OrderHandler;
  readonly deletion: Deletion;
  readonly payments: PaymentsClient;
  readonly history: OrderPast;
  /** Whether the clock of an order may be put forward. */
  readonly sandbox: boolean;
  readonly now: () => Date;
  readonly log: Logger;
}

const Id = z.object({ id: z.string() });
const PaymentPath = z.object({ id: z.string(), payment_id: z.string() });

/** Commands on orders, for the other services. */
export const orderRoutes: FastifyPluginAsyncZod<OrderRoutes> = async (
  app,
  { commands, handler, deletion, payments, history, sandbox, now, log },
) => {
  app.post('/orders', { schema: { body: CreateOrderCall, response: { 201: Order } } }, async (request, reply) => {
    const { order_id, merchant_id, order } = request.body;
    const created = await commands.create(order_id, merchant_id, order, readCallContext(request));
    return reply.code(201).send(orderView(created));
  });

  const owned = async (id: string, merchantId: string): Promise<ExistingOrder> => {
    const { state } = await handler.load(id);
    if (!exists(state) || state.merchantId !== merchantId) throw new AppError('not_found', 'there is no such order');
    return state;
  };

  app.get('/orders/:id/summary', { schema: { params: Id, response: { 200: OrderSummary } } }, async (request) => {
    const { state } = await handler.load(request.params.id);
    if (!exists(state)) throw new AppError('not_found', 'there is no such order');
    return { id: state.orderId, merchant_id: state.merchantId, currency: state.currency };
  });

  /** Lets payments know at once what became of their payments; Kafka tells them again. */
  const tellPayments = async ({ order, outcomes }: RunResult, context: CallContext): Promise<ExistingOrder> => {
    await payments
      .recordOutcomes(outcomes, context)
      .catch((error: unknown) =>
        log.warn({ err: error, orderId: order.orderId }, 'payments will hear of it from Kafka'),
      );
    return order;
  };

  const forMerchant = async (
    id: string,
    merchantId: string,
    command: OrderCommand,
    context: CallContext,
  ): Promise<Order> => orderView(await tellPayments(await commands.run(id, command, context, { merchantId }), context));

  const merchantCall = { params: Id, body: OrderCall, response: { 200: Order } };

  app.post('/orders/:id/cancel', { schema: merchantCall }, (request) =>
    forMerchant(
      request.params.id,
      request.body.merchant_id,
      { type: 'CancelOrder', at: now() },
      readCallContext(request),
    ),
  );

  app.post('/orders/:id/capture', { schema: merchantCall }, (request) =>
    forMerchant(
      request.params.id,
      request.body.merchant_id,
      { type: 'CapturePayments', at: now() },
      readCallContext(request),
    ),
  );

  app.patch('/orders/:id', { schema: { params: Id, body: UpdateOrderCall, response: { 200: Order } } }, (request) => {
    const { merchant_id, changes } = request.body;
    const command: OrderCommand = {
      type: 'UpdateOrder',
      metadata: changes.metadata,
      expirationMinutes: changes.expiration_minutes,
      at: now(),
    };
    return forMerchant(request.params.id, merchant_id, command, readCallContext(request));
  });

  app.delete(
    '/orders/:id',
    { schema: { params: Id, body: OrderCall, response: { 200: OrderDeletion } } },
    async (request) => {
      const { id } = request.params;
      const context = readCallContext(request);
      const { merchantId } = await owned(id, request.body.merchant_id);
      const { state, events } = await handler.handle(id, { type: 'DeleteOrder', at: now() }, context);
      if (state.status === 'deleted') await deletion.finish(events.at(-1)!, state.was, context);
      log.info({ orderId: id, merchantId, requestId: context.requestId }, 'order deleted');
      return { id, deleted: true as const };
    },
  );

  app.get(
    '/merchants/:id/orders',
    { schema: { params: Id, querystring: HistoryOrdersQuery, response: { 200: HistoryOrders } } },
    (request) => history.ordersOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/messages',
    { schema: { params: Id, querystring: HistoryQuery, response: { 200: OrderHistory } } },
    (request) => history.messagesOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/history',
    { schema: { params: Id, querystring: HistoryQuery, response: { 200: RecordedHistory } } },
    (request) => history.entriesOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/state',
    { schema: { params: Id, querystring: OrderStateQuery, response: { 200: Order } } },
    async (request) => {
      const order = await history.orderAt(request.params.id, request.query.at);
      if (!order) throw new AppError('not_found', 'there was no such order then');
      return orderView(order);
    },
  );

  const timeCall = { params: Id, body: AdvanceTimeCall, response: { 200: Order } };

  if (sandbox) {
    app.post('/orders/:id/time', { schema: timeCall }, async (request) => {
      const context = readCallContext(request);
      const { minutes } = request.body;
      const { order } = await commands.run(request.params.id, { type: 'AdvanceTime', minutes, at: now() }, context);
      const done = await commands.due(order, context);
      return orderView(done ? await tellPayments(done, context) : order);
    });
  }

  const answer = ({ order, outcomes }: RunResult): OrderAndOutcomes => ({ order: orderView(order), outcomes });

  app.post(
    '/orders/:id/payments',
    { schema: { params: Id, body: OfferPaymentCall, response: { 200: OrderAndOutcomes } } },
    async (request) => {
      const { payment, confirmed } = request.body;
      return answer(
        await commands.run(
          request.params.id,
          { type: 'OfferPayment', payment, confirmed, at: now() },
          readCallContext(request),
        ),
      );
    },
  );

  app.post(
    '/orders/:id/payments/:payment_id/failure',
    { schema: { params: PaymentPath, body: FailPaymentCall, response: { 200: OrderAndOutcomes } } },
    async (request) => {
      const { payment, failure_reason: failureReason, at } = request.body;
      return answer(
        await commands.run(
          request.params.id,
          { type: 'FailPayment', payment, failureReason, at: new Date(at) },
          readCallContext(request),
        ),
      );
    },
  );

  app.post(
    '/orders/:id/payments/:payment_id/refunds',
    { schema: { params: PaymentPath, body: RefundPaymentCall, response: { 200: OrderAndOutcomes } } },
    async (request) => {
      const { id, payment_id: paymentId } = request.params;
      const { refund_id: refundId, refunded_total_minor, at } = request.body;
      const command: OrderCommand = {
        type: 'RefundPayment',
        paymentId,
        refundId,
        refundedTotalMinor: BigInt(refunded_total_minor),
        at: new Date(at),
      };
      return answer(await commands.run(id, command, readCallContext(request)));
    },
  );
};
