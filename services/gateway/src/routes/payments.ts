import { pageOf, Payment, PaymentCurrency, PaymentId, PaymentRail, PaymentStatus } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ListQuery } from '../list-query.ts';
import { found, idIn } from '../not-found.ts';
import { listPayments, paymentById } from '../queries/payments.ts';
import { callerOf } from '../request.ts';
import { pathId } from './parameters.ts';

export const PaymentPage = pageOf(Payment);

const PaymentListQuery = z.strictObject({
  ...ListQuery.shape,
  status: PaymentStatus.optional(),
  currency: PaymentCurrency.optional(),
  payment_rail: PaymentRail.optional(),
});

const tags = ['Payments'];

/** `/v1/payments`: reads of the payments service's read model. */
export const paymentRoutes: FastifyPluginAsyncZod<{ pool: Pool }> = async (app, { pool }) => {
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
};
