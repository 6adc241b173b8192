import { pageOf, PaymentCurrency, Refund, RefundId, requestText } from '@cpg/contracts';
import type { Pool, Queryable } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../../door/request.ts';
import { orNotFound, parseId, pathId } from '../ids.ts';
import { ListQuery } from '../lists/list-query.ts';
import { type Page, selectResources } from '../lists/page.ts';

export const RefundPage = pageOf(Refund);

const RefundListQuery = z.strictObject({
  ...ListQuery.shape,
  payment_id: requestText().optional().describe('Only refunds of this payment.'),
  order_id: requestText().optional().describe('Only refunds of payments of this order.'),
  currency: PaymentCurrency.optional().describe('Only refunds in this currency.'),
});

const tags = ['Payments'];

/** `/v1/refunds`: reads of the payments service's read model. `POST /v1/payments/{id}/refund` creates refunds. */
export const refundRoutes: FastifyPluginAsyncZod<{ pool: Pool }> = async (app, { pool }) => {
  app.get(
    '/refunds',
    {
      config: { scope: 'payments:self:read', isList: true },
      schema: {
        operationId: 'listRefunds',
        summary: 'List refunds',
        description: 'Lists the refunds of the merchant, sorted by creation time. Stop when `page >= totalPages`.',
        tags,
        querystring: RefundListQuery,
        response: { 200: RefundPage },
      },
    },
    (request) => listRefunds(pool, callerOf(request).merchantId, request.query),
  );

  app.get(
    '/refunds/:id',
    {
      config: { scope: 'payments:self:read' },
      schema: {
        operationId: 'getRefund',
        summary: 'Retrieve a refund',
        tags,
        params: pathId('refund', 'rfd'),
        response: { 200: Refund },
      },
    },
    async (request) => {
      const id = parseId(RefundId, 'refund', request.params.id);
      return orNotFound('refund', await refundById(pool, callerOf(request).merchantId, id));
    },
  );
};

export interface RefundFilters {
  readonly payment_id?: string | undefined;
  readonly order_id?: string | undefined;
  readonly currency?: string | undefined;
}

export const listRefunds = async (
  db: Queryable,
  merchantId: string,
  { payment_id, order_id, currency, ...list }: ListQuery & RefundFilters,
): Promise<Page<Refund>> =>
  selectResources<Refund>(db, {
    table: 'payments.api_refunds',
    owner: ['merchant_id', merchantId],
    filters: Object.entries({ payment_id, order_id, currency }),
    list,
    counts: { name: 'payments.api_refund_counts', keys: ['currency'] },
  });

export const refundById = async (db: Queryable, merchantId: string, id: string): Promise<Refund | null> => {
  const { rows } = await db.query<{ resource: Refund }>(
    'select resource from payments.api_refunds where id = $1 and merchant_id = $2',
    [id, merchantId],
  );
  return rows[0]?.resource ?? null;
};
