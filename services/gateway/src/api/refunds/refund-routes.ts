import {
  OrderId,
  pageOf,
  PaymentCurrency,
  PaymentId,
  Refund,
  RefundId,
  RefundRequest,
  RefundStatus,
  requestText,
  withExample,
} from '@cpg/contracts';
import type { Pool, Queryable } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callContext, callerOf } from '../../door/request.ts';
import { idParameter, orNotFound, parseId, pathId } from '../ids.ts';
import { Instant, ListQuery, oneOrMore, RangeStart } from '../lists/list-query.ts';
import { oneOrSeveral, type Page, selectResources } from '../lists/page.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';

export const RefundPage = pageOf(Refund);

const RefundListQuery = z.strictObject({
  ...ListQuery.shape,
  payment_id: idParameter('payment', PaymentId).optional().describe('Only refunds of this payment.'),
  order_id: idParameter('order', OrderId).optional().describe('Only refunds of payments of this order.'),
  currency: PaymentCurrency.optional().describe('Only refunds in this currency.'),
  status: oneOrMore(RefundStatus)
    .optional()
    .describe(
      'Only refunds with this status: `pending` for those that wait for their transfer. Repeat the parameter for several: `status=pending&status=sent`.',
    ),
  ended_from: RangeStart.optional().describe(
    'Only refunds that were recorded, settled or canceled at or after this time. The list is still sorted by creation time.',
  ),
  ended_to: Instant.optional().describe('Only refunds that were recorded, settled or canceled at or before this time.'),
});

const tags = ['Payments'];

/** `/v1/refunds`. Commands go to the payments service, reads to its read model. `POST /v1/payments/{id}/refund` creates
 *  refunds. */
export const refundRoutes: FastifyPluginAsyncZod<{ payments: PaymentsClient; pool: Pool }> = async (
  app,
  { payments, pool },
) => {
  app.get(
    '/refunds',
    {
      config: { scope: 'payments:self:read', isList: true, repeatable: ['status'] },
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
        params: pathId('refund'),
        response: { 200: Refund },
      },
    },
    async (request) => {
      const id = parseId(RefundId, 'refund', request.params.id);
      return orNotFound('refund', await refundById(pool, callerOf(request).merchantId, id));
    },
  );

  app.post(
    '/refunds/:id/request',
    {
      config: { scope: 'payments:self:refund', shows: 'refund' },
      schema: {
        operationId: 'requestRefund',
        summary: 'Get what to send for a refund',
        description:
          'Returns the transfer with which your wallet pays a `pending` refund: a URI (BIP21 or EIP-681), and on EVM chains the unsigned transaction. Moves no money: your wallet does. Give `destination`, the address of the payer, unless the refund has one. It is set once: for another address, cancel the refund and create another one. Ask the payer for the address: the address that paid may belong to an exchange. The gateway follows the chain from now on. It settles the refund with the first transfer of exactly this amount from one of your refund addresses; on Bitcoin this is an output, so one transaction can pay many refunds. The refund becomes `sent`, then `settled`. Returns 409 `payment_conflict` if the refund is not `pending`, or if you have no refund address on its network.',
        tags,
        params: pathId('refund'),
        body: CreateRefundRequestBody.optional(),
        response: { 200: RefundRequest },
      },
    },
    (request) => {
      const id = parseId(RefundId, 'refund', request.params.id);
      const call = { merchant_id: callerOf(request).merchantId, ...request.body };
      return payments.refundRequest(id, call, callContext(request));
    },
  );

  app.post(
    '/refunds/:id/cancel',
    {
      config: { scope: 'payments:self:refund', shows: 'refund' },
      schema: {
        operationId: 'cancelRefund',
        summary: 'Cancel a pending refund',
        description:
          'Cancels a `pending` refund, so that its amount can be refunded in another way. Cancel it only if your wallet did not send it: a transfer that arrives later settles nothing. A repeat changes nothing. Returns 409 `payment_conflict` once the refund is `sent` or `settled`, and for a `recorded` one.',
        tags,
        params: pathId('refund'),
        response: { 200: Refund },
      },
    },
    (request) => {
      const id = parseId(RefundId, 'refund', request.params.id);
      return payments.cancelRefund(id, callerOf(request).merchantId, callContext(request));
    },
  );
};

export const CreateRefundRequestBody = withExample(
  z.strictObject({
    destination: requestText(1, 128)
      .optional()
      .describe('The address of the payer on the network of the refund. Its checksum is checked.'),
  }),
  { destination: '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB' },
);

export interface RefundFilters {
  readonly payment_id?: string | undefined;
  readonly order_id?: string | undefined;
  readonly currency?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly ended_from?: Date | undefined;
  readonly ended_to?: Date | undefined;
}

export const listRefunds = async (
  db: Queryable,
  merchantId: string,
  { payment_id, order_id, currency, status, ended_from, ended_to, ...list }: ListQuery & RefundFilters,
): Promise<Page<Refund>> =>
  selectResources<Refund>(db, {
    table: 'payments.api_refunds',
    owner: ['merchant_id', merchantId],
    filters: [
      ...Object.entries({ payment_id, order_id, currency, status: oneOrSeveral(status) }),
      ['ended_from', ended_from, (place) => `ended_at >= ${place}::timestamptz`],
      ['ended_to', ended_to, (place) => `ended_at <= ${place}::timestamptz`],
    ],
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
