import {
  AdvanceTimeCall,
  EXAMPLE_IDS,
  Order,
  OrderId,
  requestText,
  TestDelivery,
  WebhookEventType,
  WebhookId,
  withExample,
} from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OrdersClient } from '../orders/orders-client.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';
import type { WebhookDispatcherClient } from '../webhooks/webhook-dispatcher-client.ts';
import { parseId } from '../not-found.ts';
import { merchantIdOfWebhook } from '../webhooks/webhook-queries.ts';
import { callContext } from '../../door/request.ts';
import { requireOwner, requireOwnerOfOrder } from './ownership.ts';
import { debugPaymentRoutes } from './debug-payment-routes.ts';
import { pathId } from '../parameters.ts';

export const TestWebhookBody = withExample(
  z.strictObject({
    webhook_id: requestText(0, 256).describe('The webhook: `whk_` and a ULID.'),
    event_type: WebhookEventType.describe('The type of the event.'),
  }),
  { webhook_id: EXAMPLE_IDS.webhook, event_type: 'order:paid' },
);

export const AdvanceTimeBody = withExample(z.strictObject(AdvanceTimeCall.shape), { minutes: 61 });

const tags = ['Sandbox'];

export interface DebugRouteOptions {
  readonly pool: Pool;
  readonly orders: OrdersClient;
  readonly payments: PaymentsClient;
  readonly dispatcher: WebhookDispatcherClient;
}

/** `/debug` routes that simulate payments, time and events. Sandboxes only. */
export const debugRoutes: FastifyPluginAsyncZod<DebugRouteOptions> = async (app, options) => {
  const { pool, orders, dispatcher } = options;
  await app.register(debugPaymentRoutes, options);

  app.post(
    '/orders/:id/advance-time',
    {
      schema: {
        operationId: 'advanceTime',
        summary: 'Advance the clock of an order',
        description:
          'Acts as if `minutes` had passed for this order: its deadline comes closer and its rates get older. If the order becomes due, it expires or is renewed with new rates immediately; it is renewed at most once per request. Each request advances the clock again. Returns 409 `order_state_conflict` if the order is not open.',
        tags,
        params: pathId('order', 'ord'),
        body: AdvanceTimeBody,
        response: { 201: Order },
      },
    },
    async (request, reply) => {
      const id = parseId(OrderId, 'order', request.params.id);
      await requireOwnerOfOrder(request, { pool, orders }, id);
      return reply.code(201).send(await orders.advanceTime(id, request.body, callContext(request)));
    },
  );

  app.post(
    '/test-webhook',
    {
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a test event to a webhook',
        description:
          'Sends a sample event. Its `data.metadata` contains `"test": true`. A disabled webhook receives it too.',
        tags,
        body: TestWebhookBody,
        response: { 201: TestDelivery },
      },
    },
    async (request, reply) => {
      const { webhook_id, event_type } = request.body;
      requireOwner(request, 'webhook', await merchantIdOfWebhook(pool, parseId(WebhookId, 'webhook', webhook_id)));
      const sent = await dispatcher.sendTest({ webhook_id, event_type }, callContext(request));
      return reply.code(201).header('location', `/v1/webhooks/${webhook_id}/deliveries/${sent.delivery_id}`).send(sent);
    },
  );
};
