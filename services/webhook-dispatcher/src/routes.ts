import { AppError, ReplayCall, TestDelivery, TestDeliveryCall } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Ingest } from './ingest/ingest.ts';
import type { Instance } from './instance.ts';
import type { Replays } from './replay/replays.ts';
import { sampleEvent } from './ingest/samples.ts';
import { failDeliveriesOfWebhook } from './queue/deletions.ts';
import { redeliver, type Redelivery } from './replay/redelivery.ts';
import { cancelReplay } from './replay/replay-table.ts';
import type { Directory } from './webhooks/directory.ts';

export interface WebhookRoutes {
  readonly pool: Pool;
  readonly webhooks: Directory;
  readonly ingest: Ingest;
  readonly startReplay: Replays['start'];
  readonly eventsUntil: Instance['eventsUntil'];
  readonly isSandbox: boolean;
  readonly now: () => Date;
}

const ROWS_PER_STATEMENT = 5_000;

const config = { callers: ['gateway'] } as const;

/** The routes that the gateway calls. */
export const webhookRoutes: FastifyPluginAsyncZod<WebhookRoutes> = async (app, options) => {
  const { pool, webhooks, ingest, isSandbox, now } = options;
  if (isSandbox) {
    app.post(
      '/test-deliveries',
      { config, schema: { body: TestDeliveryCall, response: { 201: TestDelivery } } },
      async (request, reply) => {
        const { webhook_id: webhookId, event_type: type } = request.body;
        const { merchantId } = await webhookOf(webhooks, webhookId);
        const event = sampleEvent(type, merchantId, now());
        const { deliveryIds } = await ingest({ events: [event], recipients: [{ event, webhookId }] });
        return reply.code(201).send({ delivery_id: deliveryIds[0]! });
      },
    );
  }

  app.post(
    '/webhooks/:id/deliveries/:delivery_id/redelivery',
    { config, schema: { params: z.object({ id: z.string(), delivery_id: z.string() }), response: { 204: z.null() } } },
    async (request, reply) => {
      const { id: webhookId, delivery_id: deliveryId } = request.params;
      const outcome = await redeliver(pool, { webhookId, deliveryId, now: now() });
      if (outcome !== 'queued') throw REFUSALS[outcome]();
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/webhooks/:id/deliveries',
    { config, schema: { params: z.object({ id: z.string() }), response: { 204: z.null() } } },
    async (request, reply) => {
      const { id: webhookId } = request.params;
      const failSome = () =>
        failDeliveriesOfWebhook(pool, { webhookId, withTests: true, limit: ROWS_PER_STATEMENT, now: now() });
      while ((await failSome()) === ROWS_PER_STATEMENT);
      return reply.code(204).send(null);
    },
  );

  await app.register(replayRoutes, options);
};

const replayRoutes: FastifyPluginAsyncZod<WebhookRoutes> = async (app, options) => {
  const { pool, webhooks, startReplay, eventsUntil, now } = options;

  app.post(
    '/webhooks/:id/replays',
    { config, schema: { params: z.object({ id: z.string() }), body: ReplayCall, response: { 204: z.null() } } },
    async (request, reply) => {
      const { replay_id: id, from_date, to_date, event_types: types } = request.body;
      const webhook = await webhookOf(webhooks, request.params.id);
      if (!webhook.isEnabled) throw REFUSALS.disabled();
      const replay = await startReplay({
        id,
        webhookId: webhook.id,
        merchantId: webhook.merchantId,
        from: new Date(from_date),
        to: new Date(Math.min(Date.parse(to_date), eventsUntil().getTime())),
        types,
      });
      if (!replay)
        throw new AppError(
          'replay_running',
          'an earlier replay of this webhook is still running: wait until it is done, or cancel it',
        );
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/webhooks/:id/replays/:replay_id/cancel',
    { config, schema: { params: z.object({ id: z.string(), replay_id: z.string() }), response: { 204: z.null() } } },
    async (request, reply) => {
      const { id: webhookId, replay_id: id } = request.params;
      if (!(await cancelReplay(pool, { id, webhookId, now: now() })))
        throw new AppError('not_found', 'the webhook has no such replay');
      return reply.code(204).send(null);
    },
  );
};

/** Reads a webhook from the database. */
const webhookOf = async (webhooks: Directory, id: string) => {
  await webhooks.load([id], 0);
  const webhook = webhooks.get(id);
  if (!webhook) throw new AppError('not_found', 'there is no such webhook');
  return webhook;
};

const REFUSALS: Record<Exclude<Redelivery, 'queued'>, () => AppError> = {
  unknown: () => new AppError('not_found', 'the webhook has no such delivery'),
  disabled: () =>
    new AppError('webhook_disabled', 'the webhook is disabled and receives no deliveries: enable it first'),
  expired: () =>
    new AppError('delivery_expired', 'the body of the delivery is no longer stored, so it cannot be resent'),
};
