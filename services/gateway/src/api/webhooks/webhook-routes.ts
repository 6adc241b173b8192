import { randomBytes } from 'node:crypto';
import { AppError, WebhookId } from '@cpg/contracts';
import { type SecretBox, webhookRow } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { goneError } from '../../door/idempotency/idempotency-key.ts';
import { createMerchantSlots } from '../../door/limits/merchant-slots.ts';
import { callContext, callerOf, canAnswer, changeBy } from '../../door/request.ts';
import { notFound, orNotFound, parseId } from '../ids.ts';
import type { WebhookDispatcherClient } from './webhook-dispatcher-client.ts';
import {
  answerWebhookDeletion,
  deleteWebhook,
  hasRoomForWebhook,
  insertWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
  webhookById,
  type WebhookWithSecret,
} from './webhook-queries.ts';
import * as schemas from './webhook-schemas.ts';

export interface WebhookRouteOptions {
  readonly pool: Pool;
  readonly dispatcher: WebhookDispatcherClient;
  readonly now: () => Date;
}

/** `/v1/webhooks`: subscriptions of endpoints to events, without the routes that show a secret. */
export const webhookRoutes: FastifyPluginAsyncZod<WebhookRouteOptions> = async (app, options) => {
  const { pool, dispatcher, now } = options;

  app.get('/webhooks', { config: { scope: 'webhooks:self:read' }, schema: schemas.listWebhooks }, (request) =>
    listWebhooks(pool, callerOf(request).merchantId, request.query),
  );

  app.get('/webhooks/:id', { config: { scope: 'webhooks:self:read' }, schema: schemas.getWebhook }, async (request) =>
    orNotFound('webhook', await webhookById(pool, ...ownerAndId(request, request.params.id))),
  );

  app.patch(
    '/webhooks/:id',
    { config: { scope: 'webhooks:self:update' }, schema: schemas.updateWebhook },
    async (request) =>
      orNotFound(
        'webhook',
        await updateWebhook(pool, ...ownerAndId(request, request.params.id), request.body, changeBy(request, now())),
      ),
  );

  app.delete(
    '/webhooks/:id',
    { config: { scope: 'webhooks:self:delete' }, schema: schemas.deleteWebhook },
    async (request, reply) => {
      const [merchantId, id] = ownerAndId(request, request.params.id);
      if (!(await deleteWebhook(pool, merchantId, id, changeBy(request, now())))) throw notFound('webhook');
      try {
        await dispatcher.failQueuedDeliveries(id, callContext(request));
      } catch (error) {
        // The dispatcher sends nothing for a deleted webhook. It fails the deliveries when they are due.
        request.log.warn({ err: error, webhookId: id }, 'could not fail the queued deliveries of a deleted webhook');
      }
      if (canAnswer(reply)) await answerWebhookDeletion(pool, merchantId, id);
      return { id, deleted: true as const };
    },
  );
};

/** The merchant of the request and the id in its path. Throws `not_found` for a malformed id. */
const ownerAndId = (request: FastifyRequest, id: string) =>
  [callerOf(request).merchantId, parseId(WebhookId, 'webhook', id)] as const;

const MAX_WEBHOOKS = 20;
const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000;

export interface WebhookSecretRouteOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  /** Throws for a URL that webhooks must not use. */
  readonly checkUrl: (url: string) => Promise<void>;
  readonly now: () => Date;
}

/** The routes that make a signing secret and show it once: creation and rotation. */
export const webhookSecretRoutes: FastifyPluginAsyncZod<WebhookSecretRouteOptions> = async (app, options) => {
  const { pool, box, checkUrl, now } = options;
  // A check waits for DNS servers that the merchant chooses.
  const urlChecks = createMerchantSlots({ maxRunning: 4, maxWaiting: MAX_WEBHOOKS });
  const newSecretOf = (id: string) => box.seal(createWebhookSecret(), webhookRow(id));
  const withPlainSecret = ({ webhook, secretBox }: WebhookWithSecret) => ({
    ...webhook,
    secret: box.open(secretBox, webhookRow(webhook.id)),
  });

  app.post(
    '/webhooks',
    {
      config: {
        scope: 'webhooks:self:create',
        shows: 'webhook',
        creates: '/v1/webhooks/whk_{seed}',
        responseHasSecret: true,
      },
      schema: schemas.createWebhook,
    },
    async (request, reply) => {
      const { url } = request.body;
      const { merchantId } = callerOf(request);
      const { seed } = request;
      const id = `whk_${seed}`;
      if (!(await hasRoomForWebhook(pool, merchantId, id, MAX_WEBHOOKS))) throw tooManyWebhooks();
      const free = await urlChecks.acquire(merchantId);
      if (!free) {
        reply.header('retry-after', 2);
        throw new AppError('rate_limited', 'too many webhooks of the merchant are being created');
      }
      await checkUrl(url).finally(free);
      const webhook = { ...request.body, id, merchantId, secretBox: newSecretOf(id), seed };
      const created = await insertWebhook(pool, webhook, MAX_WEBHOOKS, changeBy(request, now()));
      if (!created) throw tooManyWebhooks();
      if (created === 'deleted') throw goneError(webhook.id);
      return reply.code(201).send(withPlainSecret(created));
    },
  );

  app.post(
    '/webhooks/:id/rotate-secret',
    {
      config: { scope: 'webhooks:self:update', shows: 'webhook', responseHasSecret: true },
      schema: schemas.rotateWebhookSecret,
    },
    async (request, reply) => {
      const at = now();
      const rotation = {
        secretBox: newSecretOf(request.params.id),
        seed: request.seed,
        overlapUntil: new Date(at.getTime() + SECRET_OVERLAP_MS),
      };
      const rotated = orNotFound(
        'webhook',
        await rotateWebhookSecret(pool, ...ownerAndId(request, request.params.id), rotation, changeBy(request, at)),
      );
      if (rotated === 'too many secrets') {
        throw new AppError(
          'too_many_secrets',
          'three secrets sign for this webhook: rotate again when the oldest one has expired, 24 hours after its replacement',
        );
      }
      return reply.code(201).send(withPlainSecret(rotated));
    },
  );
};

const tooManyWebhooks = (): AppError =>
  new AppError('too_many_webhooks', `a merchant can have ${MAX_WEBHOOKS} webhooks: delete one first`);

/** Generates a signing secret: `whsec_` and 32 random bytes in base64. Source: Standard Webhooks. */
const createWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
