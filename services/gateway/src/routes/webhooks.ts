import { CreateWebhookDto, pageOf, UpdateWebhookDto, Webhook, WebhookId } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { Pool } from '@cpg/postgres';
import type { SecretBox } from '@cpg/runtime';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { WebhookDispatcherClient } from '../clients/webhook-dispatcher.ts';
import { ListQuery } from '../list-query.ts';
import { found, idIn, notFound } from '../not-found.ts';
import {
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
  webhookById,
  type WebhookWithSecret,
} from '../queries/webhooks.ts';
import { callerOf, contextOf } from '../request.ts';
import { makeWebhookSecret } from '../webhooks/secret.ts';
import { NoBody, pathId } from './parameters.ts';

const MAX_WEBHOOKS = 20;
const OVERLAP_MS = 24 * 60 * 60 * 1000;

export const WebhookPage = pageOf(Webhook);

export const WebhookCreated = Webhook.extend({
  secret: z.string().describe('`whsec_` and base64: the key of the signatures. It is shown in this answer only.'),
});

export const UpdateWebhookBody = UpdateWebhookDto.safeExtend({
  url: z
    .never({ error: 'cannot be changed: delete the webhook and create another for the new URL' })
    .optional()
    .describe('Cannot be changed.'),
}).meta({ minProperties: 1 });

export const WebhookDeletion = z.object({ id: WebhookId, deleted: z.literal(true) });

const params = pathId('webhook', 'whk');
const tags = ['Webhooks'];

export interface WebhookRouteOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly dispatcher: WebhookDispatcherClient;
  /** Refuses a URL that webhooks may not be sent to. */
  readonly checkUrl: (url: string) => Promise<void>;
  readonly now: () => Date;
}

/** `/v1/webhooks`: which events go where. */
export const webhookRoutes: FastifyPluginAsyncZod<WebhookRouteOptions> = async (app, options) => {
  const { pool, box, dispatcher, checkUrl, now } = options;
  const ownerAndId = (request: FastifyRequest, id: string) =>
    [callerOf(request).merchantId, idIn(WebhookId, 'webhook', id)] as const;
  const shown = ({ webhook, secretBox }: WebhookWithSecret) => ({ ...webhook, secret: box.open(secretBox) });

  app.post(
    '/webhooks',
    {
      config: { scope: 'webhooks:self:create', answersSecret: true },
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'Subscribes a public HTTPS endpoint to events. It starts disabled: enable it with PATCH. At most 20 per merchant, otherwise 409 `too_many_webhooks`.',
        tags,
        body: CreateWebhookDto,
        response: { 201: WebhookCreated },
      },
    },
    async (request, reply) => {
      const { url, events } = request.body;
      await checkUrl(url);
      const { merchantId } = callerOf(request);
      const secretBox = box.seal(makeWebhookSecret());
      const { seed } = request;
      const webhook = { id: `whk_${seed}`, merchantId, url, events, secretBox, seed, at: now() };
      const created = await insertWebhook(pool, webhook, MAX_WEBHOOKS);
      if (!created) {
        throw new AppError('too_many_webhooks', `a merchant has at most ${MAX_WEBHOOKS} webhooks: delete one first`);
      }
      return reply.code(201).send(shown(created));
    },
  );

  app.get(
    '/webhooks',
    {
      config: { scope: 'webhooks:self:read' },
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'The webhooks of the merchant, by creation time. Stop when `page >= totalPages`.',
        tags,
        querystring: ListQuery,
        response: { 200: WebhookPage },
      },
    },
    (request) => listWebhooks(pool, callerOf(request).merchantId, request.query),
  );

  app.get(
    '/webhooks/:id',
    {
      config: { scope: 'webhooks:self:read' },
      schema: { operationId: 'getWebhook', summary: 'Read a webhook', tags, params, response: { 200: Webhook } },
    },
    async (request) => found('webhook', await webhookById(pool, ...ownerAndId(request, request.params.id))),
  );

  app.patch(
    '/webhooks/:id',
    {
      config: { scope: 'webhooks:self:update' },
      schema: {
        operationId: 'updateWebhook',
        summary: 'Change a webhook',
        description:
          '`events` replaces the whole list; `is_enabled` turns delivery on or off. While it is off nothing is delivered and nothing new is queued; a delivery that falls due meanwhile ends `failed`. After it is on again, a replay brings all of that. The URL cannot be changed: delete the webhook and create another.',
        tags,
        params,
        body: UpdateWebhookBody,
        response: { 200: Webhook },
      },
    },
    async (request) =>
      found('webhook', await updateWebhook(pool, ...ownerAndId(request, request.params.id), request.body, now())),
  );

  app.delete(
    '/webhooks/:id',
    {
      config: { scope: 'webhooks:self:delete' },
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Nothing more is delivered to it, also nothing that is queued.',
        tags,
        params,
        body: NoBody,
        response: { 200: WebhookDeletion },
      },
    },
    async (request) => {
      const [merchantId, id] = ownerAndId(request, request.params.id);
      if (!(await deleteWebhook(pool, merchantId, id, now()))) throw notFound('webhook');
      try {
        await dispatcher.dropQueued(id, contextOf(request));
      } catch (error) {
        // It is deleted already, and the dispatcher sends nothing for a deleted webhook: its rows only stay a while.
        request.log.warn({ err: error, webhookId: id }, 'could not drop what is queued for a deleted webhook');
      }
      return { id, deleted: true as const };
    },
  );

  app.post(
    '/webhooks/:id/rotate-secret',
    {
      config: { scope: 'webhooks:self:update', answersSecret: true },
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the signing secret of a webhook',
        description: 'Answers with the new secret, once. The old one signs along for 24 hours.',
        tags,
        params,
        body: NoBody,
        response: { 201: WebhookCreated },
      },
    },
    async (request, reply) => {
      const at = now();
      const rotation = {
        secretBox: box.seal(makeWebhookSecret()),
        seed: request.seed,
        at,
        overlapUntil: new Date(at.getTime() + OVERLAP_MS),
      };
      const rotated = await rotateWebhookSecret(pool, ...ownerAndId(request, request.params.id), rotation);
      return reply.code(201).send(shown(found('webhook', rotated)));
    },
  );
};
