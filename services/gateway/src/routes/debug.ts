import { AdvanceTimeCall, Order, OrderId, TestDelivery, WebhookEventType, WebhookId } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OrdersClient } from '../clients/orders.ts';
import type { PaymentsClient } from '../clients/payments.ts';
import type { WebhookDispatcherClient } from '../clients/webhook-dispatcher.ts';
import { idIn } from '../not-found.ts';
import { ownerOfOrder } from '../queries/orders.ts';
import { ownerOfWebhook } from '../queries/webhooks.ts';
import { contextOf } from '../request.ts';
import { mustOwn } from './debug-owner.ts';
import { debugPaymentRoutes } from './debug-payments.ts';
import { pathId } from './parameters.ts';

export const TestWebhookBody = z.strictObject({ webhook_id: z.string().max(256), event_type: WebhookEventType });

export const AdvanceTimeBody = z.strictObject(AdvanceTimeCall.shape);

const tags = ['Sandbox'];

export interface DebugRouteOptions {
  readonly pool: Pool;
  readonly orders: OrdersClient;
  readonly payments: PaymentsClient;
  readonly dispatcher: WebhookDispatcherClient;
}

/** `/debug`: stands in for a payer, for the clock and for an event. Sandboxes only. */
export const debugRoutes: FastifyPluginAsyncZod<DebugRouteOptions> = async (app, options) => {
  const { pool, orders, dispatcher } = options;
  await app.register(debugPaymentRoutes, options);

  app.post(
    '/orders/:id/advance-time',
    {
      schema: {
        operationId: 'advanceTime',
        summary: 'Put the clock of an order forward',
        description:
          'Acts as if `minutes` had passed for this order: its deadline is that much nearer, what it knows is that much older. What falls due is done at once: it expires, or gets new quotes (once, however far the clock moves). Each call moves the clock again. Only while the order is open, otherwise 409 `order_state_conflict`.',
        tags,
        params: pathId('order', 'ord'),
        body: AdvanceTimeBody,
        response: { 201: Order },
      },
    },
    async (request, reply) => {
      const id = idIn(OrderId, 'order', request.params.id);
      mustOwn(request, 'order', await ownerOfOrder(pool, id));
      return reply.code(201).send(await orders.advanceTime(id, request.body, contextOf(request)));
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
