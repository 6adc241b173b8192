import {
  DeliveryId,
  type DeliveryWithAttempts,
  ID_PREFIXES,
  invalidRequest,
  OrderId,
  type Replay,
  ReplayId,
  type Webhook,
  type WebhookEventType,
  WebhookId,
} from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Scope } from '../../door/keys/api-key.ts';
import { type Caller, callContext, callerOf } from '../../door/request.ts';
import { orNotFound, parseId, withNotFound } from '../ids.ts';
import { orderById } from '../orders/order-queries.ts';
import type { WebhookDispatcherClient } from '../webhooks/webhook-dispatcher-client.ts';
import { webhookById } from '../webhooks/webhook-queries.ts';
import {
  type AttemptsQuery,
  deliveryById,
  listDeliveries,
  listDeliveriesOfMerchant,
  listDeliveriesOfOrder,
  listReplays,
  replayById,
} from './delivery-queries.ts';
import * as schemas from './delivery-schemas.ts';
import { getWebhookHealth, readWebhookHealth } from './webhook-health.ts';

export interface WebhookDeliveryRouteOptions {
  readonly pool: Pool;
  readonly dispatcher: WebhookDispatcherClient;
  readonly now: () => Date;
}

const LIST = { scope: 'webhooks:self:read', isList: true, repeatable: ['status'] } as const;

/** `/v1/deliveries`, and those below `/v1/webhooks/{id}` and `/v1/orders/{id}`. Reads query the dispatcher's views,
 *  commands go to the dispatcher. */
export const webhookDeliveryRoutes: FastifyPluginAsyncZod<WebhookDeliveryRouteOptions> = async (app, options) => {
  const { pool, dispatcher, now } = options;
  const findDelivery = async (webhook: Webhook, id: string, page: AttemptsQuery): Promise<DeliveryWithAttempts> =>
    orNotFound('delivery', await deliveryById(pool, webhook, parseId(DeliveryId, 'delivery', id), page));

  app.get('/deliveries', { config: LIST, schema: schemas.listAllDeliveries }, async (request) =>
    listDeliveriesOfMerchant(pool, callerOf(request).merchantId, request.query),
  );

  const ofOrder = { scope: 'webhooks:self:read', isList: true } as const;
  app.get('/orders/:id/deliveries', { config: ofOrder, schema: schemas.listOrderDeliveries }, async (request) => {
    const { merchantId } = callerOf(request);
    const orderId = parseId(OrderId, 'order', request.params.id);
    orNotFound('order', await orderById(pool, merchantId, orderId));
    return listDeliveriesOfOrder(pool, { merchantId, orderId }, request.query);
  });

  app.get('/webhooks/:id/deliveries', { config: LIST, schema: schemas.listDeliveries }, async (request) =>
    listDeliveries(pool, (await findWebhook(pool, request, request.params.id)).id, request.query),
  );

  app.get(
    '/webhooks/:id/health',
    { config: { scope: 'webhooks:self:read' }, schema: getWebhookHealth },
    async (request) => readWebhookHealth(pool, (await findWebhook(pool, request, request.params.id)).id, now()),
  );

  app.get(
    '/webhooks/:id/deliveries/:delivery_id',
    { config: { scope: 'webhooks:self:read' }, schema: schemas.getDelivery },
    async (request) => {
      const webhook = await findWebhook(pool, request, request.params.id);
      return visibleTo(callerOf(request), await findDelivery(webhook, request.params.delivery_id, request.query));
    },
  );

  app.post(
    '/webhooks/:id/deliveries/:delivery_id/redeliver',
    { config: { scope: 'webhooks:self:update', shows: 'webhook' }, schema: schemas.redeliver },
    async (request, reply) => {
      const webhook = await findWebhook(pool, request, request.params.id);
      const deliveryId = parseId(DeliveryId, 'delivery', request.params.delivery_id);
      await withNotFound('delivery', dispatcher.redeliver(webhook.id, deliveryId, callContext(request)));
      const {
        attempts: _,
        payload: __,
        next_cursor: ___,
        ...delivery
      } = await findDelivery(webhook, deliveryId, { limit: 1 });
      return reply.code(201).send(delivery);
    },
  );
};

/** `/v1/webhooks/{id}/replay` and `/replays`, with the same reads and commands. */
export const webhookReplayRoutes: FastifyPluginAsyncZod<WebhookDeliveryRouteOptions> = async (app, options) => {
  const { pool, dispatcher } = options;
  const findReplay = async (webhook: Webhook, id: string): Promise<Replay> =>
    orNotFound('replay', await replayById(pool, webhook, parseId(ReplayId, 'replay', id)));

  app.post(
    '/webhooks/:id/replay',
    { config: { scope: 'webhooks:self:update', shows: 'webhook' }, schema: schemas.replayEvents },
    async (request, reply) => {
      const webhook = await findWebhook(pool, request, request.params.id);
      const { id, events } = webhook;
      const { from_date, to_date, event_types = events } = request.body;
      checkSubscribed(event_types, events);
      const call = {
        replay_id: `${ID_PREFIXES.replay}_${request.seed}`,
        from_date: from_date.toISOString(),
        to_date: to_date.toISOString(),
        event_types: [...event_types],
      };
      await dispatcher.replay(id, call, callContext(request));
      const replay = await findReplay(webhook, call.replay_id);
      return reply.code(201).header('location', `/v1/webhooks/${id}/replays/${replay.id}`).send(replay);
    },
  );

  app.get(
    '/webhooks/:id/replays',
    { config: { scope: 'webhooks:self:read', isList: true }, schema: schemas.listReplays },
    async (request) => listReplays(pool, await findWebhook(pool, request, request.params.id), request.query),
  );

  app.get(
    '/webhooks/:id/replays/:replay_id',
    { config: { scope: 'webhooks:self:read' }, schema: schemas.getReplay },
    async (request) => findReplay(await findWebhook(pool, request, request.params.id), request.params.replay_id),
  );

  app.post(
    '/webhooks/:id/replays/:replay_id/cancel',
    { config: { scope: 'webhooks:self:update', shows: 'webhook' }, schema: schemas.cancelReplay },
    async (request, reply) => {
      const webhook = await findWebhook(pool, request, request.params.id);
      const { id } = await findReplay(webhook, request.params.replay_id);
      await dispatcher.cancelReplay(webhook.id, id, callContext(request));
      return reply.code(201).send(await findReplay(webhook, id));
    },
  );
};

/** The webhook of the caller with this id. Throws `not_found`. */
const findWebhook = async (pool: Pool, request: FastifyRequest, id: string): Promise<Webhook> =>
  orNotFound('webhook', await webhookById(pool, callerOf(request).merchantId, parseId(WebhookId, 'webhook', id)));

/** The delivery without its payload, unless the caller may read the object in it. Endpoints may echo the payload, so
 *  their responses are left out too. */
const visibleTo = ({ scopes }: Caller, delivery: DeliveryWithAttempts): DeliveryWithAttempts => {
  const scope: Scope = delivery.event_type.startsWith('order:') ? 'orders:self:read' : 'payments:self:read';
  if (scopes.has(scope)) return delivery;
  const { payload: _, attempts, ...others } = delivery;
  return { ...others, attempts: attempts.map(({ response: __, ...attempt }) => attempt) };
};

const checkSubscribed = (requested: readonly WebhookEventType[], subscribed: readonly WebhookEventType[]): void => {
  const details = requested.flatMap((type, index) =>
    subscribed.includes(type)
      ? []
      : [{ path: `event_types.${index}`, message: `the webhook is not subscribed to ${type}` }],
  );
  if (details.length > 0) throw invalidRequest(details);
};
