import { FailPaymentCall, offeredPayment, OfferPaymentCall, OrderSummary, RefundPaymentCall } from '@cpg/contracts';
import { type CallContext, readCallContext } from '@cpg/platform';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { OrderCommands } from '../commands/order-commands.ts';
import { loadOrder, type OrderHandler } from '../commands/order-handler.ts';
import type { OrderCommand } from '../order/command.ts';
import { orderText } from '../order/view.ts';
import { z } from 'zod';

export interface PaymentReportRoutes {
  readonly commands: OrderCommands;
  readonly handler: OrderHandler;
  readonly now: () => Date;
}

const OrderPath = z.object({ id: z.string() });
const OrderPaymentPath = z.object({ id: z.string(), payment_id: z.string() });

/** The payments of an order, called by payments. */
export const paymentReportRoutes: FastifyPluginAsyncZod<PaymentReportRoutes> = async (
  app,
  { commands, handler, now },
) => {
  const config = { callers: ['payments'] } as const;
  /** Answers with OrderAndOutcomes. */
  const run = async (orderId: string, command: OrderCommand, context: CallContext, reply: FastifyReply) => {
    const { order, outcomes } = await commands.run(orderId, command, context);
    const text = `{"order":${orderText(order)},"outcomes":${JSON.stringify(outcomes)}}`;
    return reply.type('application/json; charset=utf-8').send(text);
  };

  app.get(
    '/orders/:id/summary',
    { config: { callers: ['payments', 'gateway'] }, schema: { params: OrderPath, response: { 200: OrderSummary } } },
    async (request) => {
      const { orderId, merchantId, currency, status, rails } = await loadOrder(handler, request.params.id);
      return { id: orderId, merchant_id: merchantId, currency, status, rails: [...rails] };
    },
  );

  const offer = { config, schema: { params: OrderPath, body: OfferPaymentCall } };
  app.post('/orders/:id/payments', offer, (request, reply) => {
    const payment = offeredPayment(request.body);
    const confirmed = payment.confirmedAt !== undefined;
    const command = { type: 'OfferPayment', payment, confirmed, unconfirmed: !confirmed, at: now() } as const;
    return run(request.params.id, command, readCallContext(request), reply);
  });

  app.post(
    '/orders/:id/payments/:payment_id/failure',
    { config, schema: { params: OrderPaymentPath, body: FailPaymentCall } },
    (request, reply) => {
      const { failure_reason: failureReason, at, ...offer } = request.body;
      const payment = offeredPayment(offer);
      const command = { type: 'FailPayment', payment, failureReason, failedAt: new Date(at), at: now() } as const;
      return run(request.params.id, command, readCallContext(request), reply);
    },
  );

  app.post(
    '/orders/:id/payments/:payment_id/refunds',
    { config, schema: { params: OrderPaymentPath, body: RefundPaymentCall } },
    (request, reply) => {
      const { id, payment_id: paymentId } = request.params;
      const { refund_id: refundId, refunded_total_minor, order_refunded_total_minor: ofOrder } = request.body;
      const { applied_at: appliedAt, at } = request.body;
      const command: OrderCommand = {
        type: 'RefundPayment',
        paymentId,
        refundId,
        refundedTotalMinor: BigInt(refunded_total_minor),
        ...(ofOrder !== undefined && { orderRefundedTotalMinor: BigInt(ofOrder) }),
        ...(appliedAt !== undefined && { appliedAt: new Date(appliedAt) }),
        refundedAt: new Date(at),
        at: now(),
      };
      return run(id, command, readCallContext(request), reply);
    },
  );
};
