import {
  CreateWebhookDto,
  EXAMPLE_IDS,
  exampleOf,
  pageOf,
  UpdateWebhookDto,
  Webhook,
  WebhookId,
  withExample,
} from '@cpg/contracts';
import { z } from 'zod';
import { NoBody, pathId } from '../ids.ts';
import { ListQuery } from '../lists/list-query.ts';

export const WebhookPage = pageOf(Webhook);

export const WebhookCreated = withExample(
  Webhook.extend({
    secret: z
      .string()
      .describe('The signing secret: `whsec_` and the key in base64. Only this response contains it, so store it now.'),
  }),
  { ...exampleOf(Webhook), secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwJz0Tk8mZ2Xo=' },
);

export const CreateWebhookBody = withExample(
  CreateWebhookDto.safeExtend({
    is_enabled: z
      .never({ error: 'a new webhook is disabled: leave it out, and enable the webhook with PATCH' })
      .optional()
      .describe('Cannot be given.'),
  }),
  exampleOf(CreateWebhookDto),
);

export const UpdateWebhookBody = UpdateWebhookDto.safeExtend({
  url: z
    .never({ error: 'cannot be changed: delete the webhook and create another for the new URL' })
    .optional()
    .describe('Cannot be changed.'),
}).meta({ minProperties: 1, example: { is_enabled: true } });

export const WebhookDeletion = withExample(
  z.object({
    id: WebhookId.describe('The webhook that was deleted.'),
    deleted: z.literal(true).describe('Always `true`.'),
  }),
  { id: EXAMPLE_IDS.webhook, deleted: true },
);

const params = pathId('webhook');
const tags = ['Webhooks'];

export const createWebhook = {
  operationId: 'createWebhook',
  summary: 'Create a webhook',
  description:
    'Subscribes a public HTTPS endpoint to events. The host of the URL must resolve within 2 seconds, and only to public addresses. A new webhook is disabled: enable it with PATCH. A merchant can have 20 webhooks; returns 409 `too_many_webhooks` after that.',
  tags,
  body: CreateWebhookBody,
  response: { 201: WebhookCreated },
};

export const listWebhooks = {
  operationId: 'listWebhooks',
  summary: 'List webhooks',
  description: 'Lists the webhooks of the merchant, sorted by creation time. Stop when `page >= totalPages`.',
  tags,
  querystring: ListQuery,
  response: { 200: WebhookPage },
};

export const getWebhook = {
  operationId: 'getWebhook',
  summary: 'Retrieve a webhook',
  tags,
  params,
  response: { 200: Webhook },
};

export const updateWebhook = {
  operationId: 'updateWebhook',
  summary: 'Update a webhook',
  description:
    '`events` replaces the whole list, and `filter` the whole filter. `is_enabled` turns deliveries on or off. A disabled webhook receives nothing: new events are not queued, and a delivery that becomes due ends with the status `failed`. After re-enabling the webhook, use replay to receive the missed events. The URL cannot be changed: delete the webhook and create another one.',
  tags,
  params,
  body: UpdateWebhookBody,
  response: { 200: Webhook },
};

export const deleteWebhook = {
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook',
  description:
    'Deletes the webhook. Queued deliveries are dropped. Repeat the request after a 503, a timeout or a broken connection: it returns 200 although the webhook is deleted already. After a 200, a repeat is 404.',
  tags,
  params,
  body: NoBody,
  response: { 200: WebhookDeletion },
};

export const rotateWebhookSecret = {
  operationId: 'rotateWebhookSecret',
  summary: 'Rotate the signing secret of a webhook',
  description:
    'Creates a new signing secret. Only this response contains it. Each old secret signs along for 24 hours from its own replacement. While three secrets sign, a further rotation is refused with 409 `too_many_secrets`.',
  tags,
  params,
  body: NoBody,
  response: { 201: WebhookCreated },
};
