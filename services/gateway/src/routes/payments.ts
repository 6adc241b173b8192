import { Amount, pageOf, Payment, PaymentCurrency, PaymentId, PaymentRail, PaymentStatus } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PaymentsClient } from '../clients/payments.ts';
import { ListQuery } from '../list-query.ts';
import { found, idIn } from '../not-found.ts';
import { listPayments, paymentById } from '../queries/payments.ts';
import { callerOf, contextOf } from '../request.ts';
import { pathId } from './parameters.ts';

export const PaymentPage = pageOf(Payment);

const PaymentListQuery = z.strictObject({
  ...ListQuery.shape,
  status: PaymentStatus.optional(),
  currency: PaymentCurrency.optional(),
  payment_rail: PaymentRail.optional(),
});

export const RefundPaymentBody = z.strictObject({
  amount: Amount.optional().describe('In the currency of the payment. All that is left when absent.'),
  reason: z.string().min(1).max(256).optional().describe('For your records and those of auditors.'),
});

const tags = ['Payments'];

/** `/v1/payments`: refunds go to the payments service, reads to its read model. */
export const paymentRoutes: FastifyPluginAsyncZod<{ payments: PaymentsClient; pool: Pool }> = async (
  app,
  { payments, pool },
) => {
  app.get(
    '/payments',
    {
      config: { scope: 'payments:self:read' },
      schema: {
        operationId: 'listPayments',
        summary: 'List payments',
        description: 'The payments of the merchant, by creation time. Stop when `page >= totalPages`.',
        tags,
        querystring: PaymentListQuery,
        response: { 200: PaymentPage },
      },
    },
    (request) => listPayments(pool, callerOf(request).merchantId, request.query),
  );

  app.get(
    '/payments/:id',
    {
      config: { scope: 'payments:self:read' },
      schema: {
        operationId: 'getPayment',
        summary: 'Read a payment',
        tags,
        params: pathId('payment', 'pay'),
        response: { 200: Payment },
      },
    },
    async (request) => {
      const id = idIn(PaymentId, 'payment', request.params.id);
      return found('payment', await paymentById(pool, callerOf(request).merchantId, id));
    },
  );

  app.post(
    '/payments/:id/refund',
    {
      config: { scope: 'payments:self:refund' },
      schema: {
        operationId: 'refundPayment',
        summary: 'Refund a payment',
        description:
          'Gives back all that is left of the payment, or `amount` of it, never more than was paid. What is not applied goes first. A part leaves the payment and its order as they are; once all is refunded the payment is `refunded` and does not count for its order any more: a paid order is `reversed`, one that was paid in part awaits payment again. 409 `nothing_to_refund` when nothing is left, `payment_conflict` while the payment is not settled and when it failed. Send an `Idempotency-Key`: a refund of a part that is sent again without one is another refund.',
        tags,
        params: pathId('payment', 'pay'),
        body: RefundPaymentBody.nullish(),
        response: { 201: Payment },
      },
    },
    async (request, reply) => {
      const id = idIn(PaymentId, 'payment', request.params.id);
      const call = { merchant_id: callerOf(request).merchantId, refund_id: `rfd_${request.seed}`, ...request.body };
      const { payment } = await payments.refund(id, call, contextOf(request));
      return reply.code(201).send(payment);
    },
  );
};
