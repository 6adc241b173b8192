import { TestDelivery, TestDeliveryCall } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { Pool } from '@cpg/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Intake } from './delivery/intake.ts';
import { sampleEvent } from './samples.ts';
import { dropOfWebhook } from './storage/queue.ts';
import type { Directory } from './webhooks/directory.ts';

export interface WebhookRoutes {
  readonly pool: Pool;
  readonly webhooks: Directory;
  readonly takeIn: Intake;
  readonly isSandbox: boolean;
  readonly now: () => Date;
}

const ROWS_PER_DROP = 5_000;

/** What the gateway asks of the dispatcher. */
export const webhookRoutes: FastifyPluginAsyncZod<WebhookRoutes> = async (app, options) => {
  const { pool, webhooks, takeIn, isSandbox, now } = options;

  if (isSandbox) {
    app.post(
      '/test-deliveries',
      { schema: { body: TestDeliveryCall, response: { 201: TestDelivery } } },
      async (request, reply) => {
        const { webhook_id: webhookId, event_type: type } = request.body;
        await webhooks.load([webhookId]);
        const webhook = webhooks.get(webhookId);
        if (!webhook) throw new AppError('not_found', 'there is no such webhook');
        const event = sampleEvent(type, webhook.merchantId, now());
        const [id] = await takeIn({ events: [event], recipients: [{ event, webhookId, isTest: true }] });
        return reply.code(201).send({ delivery_id: id! });
      },
    );
  }

  app.delete(
    '/webhooks/:id/deliveries',
    { schema: { params: z.object({ id: z.string() }), response: { 204: z.null() } } },
    async (request, reply) => {
      const drop = () =>
        dropOfWebhook(pool, { webhookId: request.params.id, withTests: true, limit: ROWS_PER_DROP, now: now() });
      while ((await drop()) === ROWS_PER_DROP);
      return reply.code(204).send(null);
    },
  );
};
