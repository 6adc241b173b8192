import { randomBytes } from 'node:crypto';
import { Amount, Order, OrderId, PaymentCurrency, PaymentId, PaymentRail, toMinor } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import { invalidRequest } from '@cpg/runtime';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PaymentsClient } from '../clients/payments.ts';
import { found, idIn } from '../not-found.ts';
import { ownerOfOrder } from '../queries/orders.ts';
import { ownerOfPayment } from '../queries/payments.ts';
import { contextOf } from '../request.ts';
import { mustOwn } from './debug-owner.ts';
import { NoBody, pathId } from './parameters.ts';

export const RegisterPaymentBody = z.strictObject({
  order_id: z.string().max(256),
  payment_rail: PaymentRail,
  amount: Amount,
  currency: PaymentCurrency,
  txHash: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Identifies the money on its rail: the same hash again is the same payment. Made up when absent.'),
  outcome: z
    .enum(['confirmed', 'pending', 'failed'])
    .optional()
    .describe(
      '`confirmed`, which it is when absent: the rail saw it and vouches for it. `pending`: seen, and not confirmed yet; the order keeps it `received`. `failed`: seen, and dropped.',
    ),
});

export const FailPaymentBody = z.strictObject({
  reason: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'Becomes `failure_reason`. When absent it is `dropped` for what was received, `reorg` for what was applied.',
    ),
});

const params = pathId('payment', 'pay');
const tags = ['Sandbox'];

/** `/debug`: stands in for a payer and the rails. Sandboxes only. */
export const debugPaymentRoutes: FastifyPluginAsyncZod<{ pool: Pool; payments: PaymentsClient }> = async (
  app,
  { pool, payments },
) => {
  const ownPayment = async (request: FastifyRequest, pathParameter: string): Promise<string> => {
    const id = idIn(PaymentId, 'payment', pathParameter);
    mustOwn(request, 'payment', await ownerOfPayment(pool, id));
    return id;
  };

  app.post(
    '/register-payment',
    {
      schema: {
        operationId: 'registerPayment',
        summary: 'Pay an order',
        description:
          'Acts as if the rail had seen this money, and by `outcome` confirmed or dropped it. The same hash with the same body is the same payment; with another amount or order it is 409 `payment_conflict`. A pending payment is confirmed or dropped by sending its hash with that `outcome`, or by its own operations below.',
        tags,
        body: RegisterPaymentBody,
        response: { 201: Order },
      },
    },
    async (request, reply) => {
      const { order_id, payment_rail, amount, currency, txHash, outcome = 'confirmed' } = request.body;
      checkAmount(amount, currency);
      mustOwn(request, 'order', await ownerOfOrder(pool, idIn(OrderId, 'order', order_id)));
      const context = contextOf(request);
      const registered = await payments.register(
        {
          order_id,
          rail: payment_rail,
          provider_id: txHash ?? `debug_${randomBytes(16).toString('hex')}`,
          amount,
          currency,
          confirmed: outcome === 'confirmed',
          ...(txHash !== undefined && { tx_hash: txHash }),
        },
        context,
      );
      const { order } = outcome === 'failed' ? await payments.fail(registered.payment.id, {}, context) : registered;
      return reply.code(201).send(found('order', order));
    },
  );

  app.post(
    '/payments/:id/confirm',
    {
      schema: {
        operationId: 'confirmPayment',
        summary: 'Confirm a pending payment',
        description:
          'Acts as if the rail had confirmed this money: the order applies it, holds it or sets it aside. Again it changes nothing; 409 `payment_conflict` once the payment failed.',
        tags,
        params,
        body: NoBody,
        response: { 201: Order },
      },
    },
    async (request, reply) => {
      const id = await ownPayment(request, request.params.id);
      const { order } = await payments.confirm(id, {}, contextOf(request));
      return reply.code(201).send(found('order', order));
    },
  );

  app.post(
    '/payments/:id/fail',
    {
      schema: {
        operationId: 'failPayment',
        summary: 'Drop or reverse a payment',
        description:
          'Acts as if the rail had dropped money that was `received`, or taken back money that was `applied` (a reorganisation of the chain, a reversal by the provider): a paid order is then `reversed`, and new money pays it again. Again it changes nothing; 409 `payment_conflict` for an orphan and for what is refunded.',
        tags,
        params,
        body: FailPaymentBody.nullish(),
        response: { 201: Order },
      },
    },
    async (request, reply) => {
      const id = await ownPayment(request, request.params.id);
      const reason = request.body?.reason;
      const call = reason === undefined ? {} : { failure_reason: reason };
      const { order } = await payments.fail(id, call, contextOf(request));
      return reply.code(201).send(found('order', order));
    },
  );
};

const checkAmount = (amount: string, currency: PaymentCurrency): void => {
  const refused = (message: string) => invalidRequest([{ path: 'amount', message }]);
  try {
    if (toMinor(amount, currency) === 0n) throw refused('must be more than zero');
  } catch (error) {
    throw error instanceof RangeError ? refused(error.message) : error;
  }
};
