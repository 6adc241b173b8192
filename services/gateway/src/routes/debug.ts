import { randomBytes } from 'node:crypto';
import {
  Amount,
  Order,
  OrderId,
  PaymentCurrency,
  PaymentRail,
  TestDelivery,
  toMinor,
  WebhookEventType,
  WebhookId,
} from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import { invalid } from '@cpg/runtime';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PaymentsClient } from '../clients/payments.ts';
import type { WebhookDispatcherClient } from '../clients/webhook-dispatcher.ts';
import { found, idIn, notFound, type ResourceName } from '../not-found.ts';
import { ownerOfOrder } from '../queries/orders.ts';
import { ownerOfWebhook } from '../queries/webhooks.ts';
import { contextOf } from '../request.ts';

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
});

export const TestWebhookBody = z.strictObject({ webhook_id: z.string().max(256), event_type: WebhookEventType });

const tags = ['Sandbox'];

export interface DebugRouteOptions {
  readonly pool: Pool;
  readonly payments: PaymentsClient;
  readonly dispatcher: WebhookDispatcherClient;
}

/** `/debug`: stands in for a payer and for an event. Sandboxes only. */
export const debugRoutes: FastifyPluginAsyncZod<DebugRouteOptions> = async (app, { pool, payments, dispatcher }) => {
  app.post(
    '/register-payment',
    {
      schema: {
        operationId: 'registerPayment',
        summary: 'Pay an order',
        description: 'Acts as if the rail had seen and confirmed this money.',
        tags,
        body: RegisterPaymentBody,
        response: { 201: Order },
      },
    },
    async (request, reply) => {
      const { order_id, payment_rail, amount, currency, txHash } = request.body;
      checkAmount(amount, currency);
      mustOwn(request, 'order', await ownerOfOrder(pool, idIn(OrderId, 'order', order_id)));
      const { order } = await payments.register(
        {
          order_id,
          rail: payment_rail,
          provider_id: txHash ?? `debug_${randomBytes(16).toString('hex')}`,
          amount,
          currency,
          confirmed: true,
          ...(txHash !== undefined && { tx_hash: txHash }),
        },
        contextOf(request),
      );
      return reply.code(201).send(found('order', order));
    },
  );

  app.post(
    '/test-webhook',
    {
      schema: {
        operationId: 'testWebhook',
        summary: 'Deliver a sample event to a webhook',
        description: 'The sample is marked `"test": true` in `data.metadata`. A disabled webhook gets it too.',
        tags,
        body: TestWebhookBody,
        response: { 201: TestDelivery },
      },
    },
    async (request, reply) => {
      const { webhook_id, event_type } = request.body;
      mustOwn(request, 'webhook', await ownerOfWebhook(pool, idIn(WebhookId, 'webhook', webhook_id)));
      return reply.code(201).send(await dispatcher.sendTest({ webhook_id, event_type }, contextOf(request)));
    },
  );
};

/** Without a key the sandbox is everybody's; a key sees only what its merchant owns. */
const mustOwn = ({ caller }: FastifyRequest, resource: ResourceName, owner: string | null): void => {
  if (owner === null || (caller && caller.merchantId !== owner)) throw notFound(resource);
};

const checkAmount = (amount: string, currency: PaymentCurrency): void => {
  const refused = (message: string) => invalid([{ path: 'amount', message }]);
  try {
    if (toMinor(amount, currency) === 0n) throw refused('must be more than zero');
  } catch (error) {
    throw error instanceof RangeError ? refused(error.message) : error;
  }
};
