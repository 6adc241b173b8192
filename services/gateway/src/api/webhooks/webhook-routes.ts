import { WebhookId } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { WebhookDispatcherClient } from './webhook-dispatcher-client.ts';
import { notFound, orNotFound, parseId } from '../not-found.ts';
import { answerWebhookDeletion, deleteWebhook, listWebhooks, updateWebhook, webhookById } from './webhook-queries.ts';
import { callContext, callerOf, canAnswer } from '../../door/request.ts';
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
      orNotFound('webhook', await updateWebhook(pool, ...ownerAndId(request, request.params.id), request.body, now())),
  );

  app.delete(
    '/webhooks/:id',
    { config: { scope: 'webhooks:self:delete' }, schema: schemas.deleteWebhook },
    async (request, reply) => {
      const [merchantId, id] = ownerAndId(request, request.params.id);
      if (!(await deleteWebhook(pool, merchantId, id, now()))) throw notFound('webhook');
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
export const ownerAndId = (request: FastifyRequest, id: string) =>
  [callerOf(request).merchantId, parseId(WebhookId, 'webhook', id)] as const;
