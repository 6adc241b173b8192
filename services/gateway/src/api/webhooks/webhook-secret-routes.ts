import { AppError } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import { type SecretBox, webhookRow } from '@cpg/platform';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { createMerchantSlots } from '../../door/limits/merchant-slots.ts';
import { orNotFound } from '../not-found.ts';
import { goneError } from '../../door/idempotency/shown-resource.ts';
import { hasRoomForWebhook, insertWebhook, rotateWebhookSecret, type WebhookWithSecret } from './webhook-queries.ts';
import { callerOf } from '../../door/request.ts';
import { createWebhookSecret } from './secret.ts';
import * as schemas from './webhook-schemas.ts';
import { ownerAndId } from './webhook-routes.ts';

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
      const { url, events } = request.body;
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
      const webhook = { id, merchantId, url, events, secretBox: newSecretOf(id), seed, at: now() };
      const created = await insertWebhook(pool, webhook, MAX_WEBHOOKS);
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
        at,
        overlapUntil: new Date(at.getTime() + SECRET_OVERLAP_MS),
      };
      const rotated = orNotFound(
        'webhook',
        await rotateWebhookSecret(pool, ...ownerAndId(request, request.params.id), rotation),
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
