import {
  Delivery,
  DeliveryId,
  DeliveryStatus,
  DeliveryWithAttempts,
  pageOf,
  Replay,
  WebhookEvents,
  WebhookEventType,
  WebhookId,
} from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import type { Pool } from '@cpg/postgres';
import { invalidRequest } from '@cpg/runtime';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { WebhookDispatcherClient } from '../clients/webhook-dispatcher.ts';
import { Instant, ListQuery } from '../list-query.ts';
import { found, idIn, notFound } from '../not-found.ts';
import { deliveryById, listDeliveries } from '../queries/deliveries.ts';
import { webhookById } from '../queries/webhooks.ts';
import { callerOf, contextOf } from '../request.ts';
import { NoBody, pathId } from './parameters.ts';

export const DeliveryPage = pageOf(Delivery);

const DeliveryListQuery = z.strictObject({
  ...ListQuery.shape,
  status: DeliveryStatus.optional(),
  event_type: WebhookEventType.optional(),
});

export const ReplayWebhookBody = z
  .strictObject({
    from_date: Instant.describe('What happened at or after this instant.'),
    to_date: Instant.describe('What happened at or before this instant.'),
    event_types: WebhookEvents.optional().describe('All that the webhook is subscribed to when absent.'),
  })
  .refine(({ from_date, to_date }) => from_date <= to_date, {
    path: ['to_date'],
    error: 'must not be before from_date',
  });

const tags = ['Webhooks'];
const params = pathId('webhook', 'whk').extend({
  delivery_id: z.string().describe('The delivery: `dlv_` and a ULID.'),
});

export interface WebhookDeliveryRouteOptions {
  readonly pool: Pool;
  readonly dispatcher: WebhookDispatcherClient;
}

/** `/v1/webhooks/{id}/deliveries`: what became of events, and how to have them again. Reads go to the dispatcher's records, commands to
 *  the dispatcher. */
export const webhookDeliveryRoutes: FastifyPluginAsyncZod<WebhookDeliveryRouteOptions> = async (app, options) => {
  const { pool, dispatcher } = options;
  const ownWebhook = async (request: FastifyRequest, id: string) =>
    found('webhook', await webhookById(pool, callerOf(request).merchantId, idIn(WebhookId, 'webhook', id)));
  const deliveryOf = async (webhookId: string, id: string) =>
    found('delivery', await deliveryById(pool, webhookId, idIn(DeliveryId, 'delivery', id)));

  app.get(
    '/webhooks/:id/deliveries',
    {
      config: { scope: 'webhooks:self:read' },
      schema: {
        operationId: 'listDeliveries',
        summary: 'List the deliveries of a webhook',
        description:
          'One for each event that was to be delivered to it, by creation time. They are kept for 90 days after the event, or after the replay of an old one, unless the operator chose otherwise. Stop when `page >= totalPages`.',
        tags,
        params: pathId('webhook', 'whk'),
        querystring: DeliveryListQuery,
        response: { 200: DeliveryPage },
      },
    },
    async (request) => listDeliveries(pool, (await ownWebhook(request, request.params.id)).id, request.query),
  );

  app.get(
    '/webhooks/:id/deliveries/:delivery_id',
    {
      config: { scope: 'webhooks:self:read' },
      schema: {
        operationId: 'getDelivery',
        summary: 'Read a delivery with its attempts',
        tags,
        params,
        response: { 200: DeliveryWithAttempts },
      },
    },
    async (request) => {
      const { id } = await ownWebhook(request, request.params.id);
      return deliveryOf(id, request.params.delivery_id);
    },
  );

  app.post(
    '/webhooks/:id/deliveries/:delivery_id/redeliver',
    {
      config: { scope: 'webhooks:self:update' },
      schema: {
        operationId: 'redeliver',
        summary: 'Make a delivery again',
        description:
          'At once, whether it arrived, failed or waits for a retry, and with the whole schedule of retries before it: the same `x-idempotency-key` and the same bytes, in a new attempt. While an attempt is under way nothing changes. 409 `webhook_disabled` while the webhook is disabled, `delivery_expired` when the body is no longer kept.',
        tags,
        params,
        body: NoBody,
        response: { 201: Delivery },
      },
    },
    async (request, reply) => {
      const { id } = await ownWebhook(request, request.params.id);
      const deliveryId = idIn(DeliveryId, 'delivery', request.params.delivery_id);
      try {
        await dispatcher.redeliver(id, deliveryId, contextOf(request));
      } catch (error) {
        throw isAppError(error, 'not_found') ? notFound('delivery') : error;
      }
      const { attempts: _, payload: __, ...delivery } = await deliveryOf(id, deliveryId);
      return reply.code(201).send(delivery);
    },
  );

  app.post(
    '/webhooks/:id/replay',
    {
      config: { scope: 'webhooks:self:update' },
      schema: {
        operationId: 'replayEvents',
        summary: 'Deliver again what happened in a range',
        description:
          'Delivers everything that happened to the merchant’s orders and payments in the range, however long ago: also what happened while the webhook was disabled or before it was made, and what it has received before (under the same `x-idempotency-key`, with the same bytes). Only what concerns deleted orders is gone. Orders come one after another, the oldest first, each with its events in the order in which they happened. The answer comes once the replay is on its way; what it queued is in the list of deliveries. A long replay feeds the queue only as fast as the endpoint takes it. 409 `webhook_disabled` while the webhook is disabled, `replay_running` while an earlier replay of it has events to queue.',
        tags,
        params: pathId('webhook', 'whk'),
        body: ReplayWebhookBody,
        response: { 201: Replay },
      },
    },
    async (request, reply) => {
      const { id, events } = await ownWebhook(request, request.params.id);
      const { from_date, to_date, event_types = events } = request.body;
      const others = event_types.flatMap((type, index) => (events.includes(type) ? [] : [{ type, index }]));
      if (others.length > 0)
        throw invalidRequest(
          others.map(({ type, index }) => ({
            path: `event_types.${index}`,
            message: `the webhook is not subscribed to ${type}`,
          })),
        );
      const call = {
        replay_id: `rpl_${request.seed}`,
        from_date: from_date.toISOString(),
        to_date: to_date.toISOString(),
        event_types: [...event_types],
      };
      return reply.code(201).send(await dispatcher.replay(id, call, contextOf(request)));
    },
  );
};
