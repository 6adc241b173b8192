import {
  AmountDto,
  exampleOf,
  OrderId,
  pageOf,
  Payment,
  PaymentCurrency,
  PaymentId,
  PaymentRail,
  PaymentStatus,
  Refund,
  RefundId,
  RefundPart,
  RefundSettlement,
  requestText,
  withExample,
} from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callContext, callerOf } from '../../door/request.ts';
import { idParameter, orNotFound, parseId, pathId } from '../ids.ts';
import { booleanParameter, ListQuery, oneOrMore, timeRange } from '../lists/list-query.ts';
import { listPayments, paymentById } from './payment-queries.ts';
import type { PaymentsClient } from './payments-client.ts';

export const PaymentPage = pageOf(Payment);

const PaymentListQuery = z.strictObject({
  ...ListQuery.shape,
  status: oneOrMore(PaymentStatus)
    .optional()
    .describe('Only payments with this status. Repeat the parameter for several: `status=received&status=orphan`.'),
  currency: PaymentCurrency.optional().describe('Only payments in this currency.'),
  payment_rail: PaymentRail.optional().describe('Only payments on this rail.'),
  order_id: idParameter('order', OrderId).optional().describe('Only payments of this order.'),
  due_back: booleanParameter
    .optional()
    .describe(
      '`true`: only payments with `due_back_amount`: orphans that are not refunded, and applied payments with a surplus to refund. `false`: only the others.',
    ),
  external_reference_id: requestText(1, 128)
    .optional()
    .describe('Only payments of orders with exactly this `external_reference_id`.'),
  payment_reference: requestText(1, 128)
    .optional()
    .describe('Only payments of the order that is paid with exactly this `payment_reference`.'),
  tx_hash: requestText(1, 128)
    .optional()
    .describe('Only payments by this transaction. Letters may be upper or lower case.'),
  ...timeRange('applied', 'payments', 'have `applied_at`'),
  ...timeRange('refunded', 'payments', 'have `refunded_at`'),
  ...timeRange('failed', 'payments', 'have `failed_at`'),
  ...timeRange('updated', 'payments', 'changed last'),
});

/** The answer to a refund names the refund too, which a merchant needs to pay it back from a wallet. */
export const RefundedPayment = withExample(
  Payment.extend({
    refund_id: RefundId.describe('The refund that this request made: `rfd_` and a ULID. Only this answer has it.'),
  }),
  { ...exampleOf(Payment), refund_id: exampleOf(Refund).id },
);

export const RefundPaymentBody = withExample(
  z
    .strictObject({
      amount: AmountDto.optional().describe(
        'The amount to refund, in the currency of the payment. Cannot be used with `what`.',
      ),
      what: RefundPart.optional().describe(
        'Instead of an `amount`. `surplus`, the default: what the order does not need, `due_back_amount` of the payment. `all`: all that is left of the payment, also what is applied to the order. Amounts that requested refunds reserve are in neither. Without a surplus that is due, `amount` or `what: all` is required.',
      ),
      reason: requestText(1, 256).optional().describe('The reason for the refund, stored for you and for auditors.'),
      settle: RefundSettlement.optional().describe(
        '`recorded` (default): you state that you paid back. `on_chain`: you will send the refund from your own wallet, and its transfer proves it. The amount is reserved, and the refund is `pending`: `POST /v1/refunds/{id}/request` returns what to send. The payment and its order change when the transfer is final. Without `tx_hash`, and only on a network whose chain the gateway reads.',
      ),
      tx_hash: requestText(1, 128)
        .optional()
        .describe(
          'The transaction with which you paid back. On a chain: its hash, as its network writes it. For a payment through a provider, and without `network`: the id of the refund at the provider, stored as you send it.',
        ),
      network: requestText(1, 64)
        .optional()
        .describe(
          'The network on which you paid back, or with `settle: "on_chain"` will, with the name that `deposit_instructions` has. By default, the network of the payment. A payment through a provider has none: `settle: "on_chain"` then needs it.',
        ),
      destination: requestText(1, 128)
        .optional()
        .describe(
          'The address that you paid, on `network`. With `settle: "on_chain"`: the address of the payer, which you can also give later. Its form and its checksum are checked. For a payment through a provider, and without `network`: any text, stored as you send it.',
        ),
    })
    .refine(({ amount, what }) => amount === undefined || what === undefined, {
      path: ['what'],
      error: 'cannot be used with `amount`: send one of them',
    }),
  { amount: '10.5', reason: 'one dish was not served' },
);

const tags = ['Payments'];

/** `/v1/payments`. Refunds go to the payments service, reads to its read model. */
export const paymentRoutes: FastifyPluginAsyncZod<{ payments: PaymentsClient; pool: Pool }> = async (
  app,
  { payments, pool },
) => {
  app.get(
    '/payments',
    {
      config: { scope: 'payments:self:read', isList: true, repeatable: ['status'] },
      schema: {
        operationId: 'listPayments',
        summary: 'List payments',
        description: 'Lists the payments of the merchant, sorted by creation time. Stop when `page >= totalPages`.',
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
        summary: 'Retrieve a payment',
        tags,
        params: pathId('payment'),
        response: { 200: Payment },
      },
    },
    async (request) => {
      const id = parseId(PaymentId, 'payment', request.params.id);
      return orNotFound('payment', await paymentById(pool, callerOf(request).merchantId, id));
    },
  );

  app.post(
    '/payments/:id/refund',
    {
      config: { scope: 'payments:self:refund', shows: 'payment', creates: '/v1/refunds/rfd_{seed}' },
      schema: {
        operationId: 'refundPayment',
        summary: 'Record a refund of a payment',
        description:
          'Records that you paid a payment back, in full or in part. It moves no money: send the money from your own wallet, or through the provider, and record it here with `tx_hash` and `destination`. Without `amount` and `what`, it refunds the surplus: all that is left of an `orphan`, or the part of an `applied` payment that the order does not need. An `applied` payment without a surplus needs `amount` or `what: all` (400 `refund_amount_required`), so that nothing of a paid order is refunded by mistake. The total of all refunds never exceeds the paid amount. Money that is not applied to the order is refunded first. A refund of the surplus does not change the order. A partial refund does not change the status of the payment or its order; until the order is paid, the refunded part counts no more and `remaining_amount` grows. When everything is refunded, the payment becomes `refunded` and no longer counts for its order: a paid order becomes `reversed`, a partially paid order awaits payment again. Returns 409 `nothing_to_refund` if nothing is left, 409 `refund_too_large` for more than is left, and 409 `payment_conflict` while the payment is neither applied nor an orphan. Send an `Idempotency-Key`: without one, a repeated partial refund is a second refund. `refund_id` of the answer is the refund.',
        tags,
        params: pathId('payment'),
        body: RefundPaymentBody.optional(),
        response: { 201: RefundedPayment },
      },
    },
    async (request, reply) => {
      const id = parseId(PaymentId, 'payment', request.params.id);
      const refund_id = RefundId.parse(`rfd_${request.seed}`);
      const call = { merchant_id: callerOf(request).merchantId, refund_id, ...request.body };
      const { payment } = await payments.refund(id, call, callContext(request));
      return reply.code(201).send({ ...payment, refund_id });
    },
  );
};
