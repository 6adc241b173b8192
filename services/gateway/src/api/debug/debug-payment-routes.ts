import { randomBytes } from 'node:crypto';
import {
  AmountDto,
  AppError,
  EXAMPLE_IDS,
  Order,
  OrderId,
  PaymentCurrency,
  PaymentId,
  PaymentRail,
  requestText,
  withExample,
} from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import { parsePositiveAmount } from '@cpg/platform';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OrdersClient } from '../orders/orders-client.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';
import { orNotFound, parseId } from '../not-found.ts';
import { merchantIdOfPayment } from '../payments/payment-queries.ts';
import { callContext } from '../../door/request.ts';
import { requireOwner, requireOwnerOfOrder } from './ownership.ts';
import { NoBody, pathId } from '../parameters.ts';

export const RegisterPaymentBody = withExample(
  z.strictObject({
    order_id: requestText(0, 256).describe('The order that is paid.'),
    payment_rail: PaymentRail.describe('How it is paid. The order must have this rail.'),
    amount: AmountDto.describe('The amount that is paid.'),
    currency: PaymentCurrency.describe('The currency.'),
    txHash: requestText(1, 256)
      .optional()
      .describe(
        'Identifies the payment on its rail: the same hash is the same payment. A random hash is used by default.',
      ),
    outcome: z
      .enum(['confirmed', 'pending', 'failed'])
      .optional()
      .describe(
        '`confirmed` (the default): the rail has confirmed the payment. `pending`: the rail has seen the payment and not yet confirmed it; its status is `received`. `failed`: the rail has seen the payment and then dropped it.',
      ),
  }),
  { order_id: EXAMPLE_IDS.order, payment_rail: 'crypto_deposit', amount: '52.4722', currency: 'USDC' },
);

export const FailPaymentBody = withExample(
  z.strictObject({
    reason: requestText(1, 256)
      .optional()
      .describe(
        'The value for `failure_reason`. By default, `dropped` for a received payment and `reorg` for an applied one.',
      ),
  }),
  { reason: 'reorg' },
);

const params = pathId('payment', 'pay');
const tags = ['Sandbox'];

const registerPayment = {
  operationId: 'registerPayment',
  summary: 'Simulate a payment',
  description:
    'Acts as if the rail had seen this payment, and then confirmed or dropped it as `outcome` says. The same hash with the same body is the same payment. The same hash with another amount or order returns 409 `payment_conflict`, and a rail that the order does not enable 409 `rail_not_enabled`. To confirm or drop a pending payment, send its hash again with that `outcome`, or use the operations below. The hash of a failed payment again, `confirmed` or `pending`, acts as if the rail had seen the same money once more, for example after a chain reorganization: the payment is `received` again, and an order that was `reversed` becomes `paid` when the payment is confirmed.',
  tags,
  body: RegisterPaymentBody,
  response: { 201: Order },
};

const confirmPayment = {
  operationId: 'confirmPayment',
  summary: 'Confirm a pending payment',
  description:
    'Acts as if the rail had confirmed the payment. The order then applies the payment, holds it, or marks it as an orphan. Confirming it again changes nothing. Returns 409 `payment_conflict` if the payment has failed: register it again.',
  tags,
  params,
  body: NoBody,
  response: { 201: Order },
};

const failPayment = {
  operationId: 'failPayment',
  summary: 'Drop or reverse a payment',
  description:
    'Acts as if the rail had dropped a `received` payment or reversed an `applied` or `orphan` one, for example after a chain reorganization or a reversal by the provider. Reversing a payment of a paid order makes the order `reversed`; a new payment, or the same one registered again, can pay it. If the order has `already_paid` orphans that are enough, it takes them and is `paid` again at once. Repeating the request changes nothing. Returns 409 `payment_conflict` for a refunded payment.',
  tags,
  params,
  body: FailPaymentBody.nullish(),
  response: { 201: Order },
};

/** `/debug` routes that stand in for the payer and the rails. Sandboxes only. */
export const debugPaymentRoutes: FastifyPluginAsyncZod<{
  pool: Pool;
  orders: OrdersClient;
  payments: PaymentsClient;
}> = async (app, { pool, orders, payments }) => {
  const ownPaymentId = async (request: FastifyRequest, pathParameter: string): Promise<string> => {
    const id = parseId(PaymentId, 'payment', pathParameter);
    requireOwner(request, 'payment', await merchantIdOfPayment(pool, id));
    return id;
  };

  app.post('/register-payment', { schema: registerPayment }, async (request, reply) => {
    const { order_id, payment_rail: rail, outcome = 'confirmed' } = request.body;
    parsePositiveAmount(request.body);
    const { rails } = await requireOwnerOfOrder(request, { pool, orders }, parseId(OrderId, 'order', order_id));
    if (rails.length > 0 && !rails.includes(rail))
      throw new AppError(
        'rail_not_enabled',
        `the order does not enable ${rail}: send payment_rail ${[...new Set(rails)].join(' or ')}`,
      );
    const context = callContext(request);
    const registered = await payments.register(registrationOf(request.body), context);
    const { order } = outcome === 'failed' ? await payments.fail(registered.payment.id, {}, context) : registered;
    return reply.code(201).header('location', `/v1/payments/${registered.payment.id}`).send(orNotFound('order', order));
  });

  app.post('/payments/:id/confirm', { schema: confirmPayment }, async (request, reply) => {
    const id = await ownPaymentId(request, request.params.id);
    const { order } = await payments.confirm(id, {}, callContext(request));
    return reply.code(201).send(orNotFound('order', order));
  });

  app.post('/payments/:id/fail', { schema: failPayment }, async (request, reply) => {
    const id = await ownPaymentId(request, request.params.id);
    const reason = request.body?.reason;
    const call = reason === undefined ? {} : { failure_reason: reason };
    const { order } = await payments.fail(id, call, callContext(request));
    return reply.code(201).send(orNotFound('order', order));
  });
};

type RegisterPaymentBody = z.infer<typeof RegisterPaymentBody>;

const registrationOf = ({ order_id, payment_rail, amount, currency, txHash, outcome }: RegisterPaymentBody) => ({
  order_id,
  rail: payment_rail,
  provider_id: txHash ?? `debug_${randomBytes(16).toString('hex')}`,
  amount,
  currency,
  confirmed: outcome === undefined || outcome === 'confirmed',
  // Otherwise a repeated request would make the failed payment received and fail it again.
  ...(outcome === 'failed' && { reinstates: false }),
  ...(txHash !== undefined && { tx_hash: txHash }),
});
