import { z } from 'zod';
import { MerchantId, Timestamp, WebhookId } from '../ids.ts';
import { Order } from './order.ts';
import { Payment } from './payment.ts';
import { requestText } from './text.ts';

export const WebhookEventType = z.enum([
  'order:created',
  'order:updated',
  'order:paid',
  'payment:applied',
  'payment:failed',
  'payment:refunded',
]);
export type WebhookEventType = z.infer<typeof WebhookEventType>;

export const Webhook = z.object({
  id: WebhookId,
  merchant_id: MerchantId,
  url: z.string(),
  events: z.array(WebhookEventType),
  is_enabled: z.boolean(),
  disabled_reason: z
    .string()
    .optional()
    .describe(
      'Why the service disabled the webhook: its endpoint answered 410, or all attempts failed for 5 days, at least 10 of them, the last within a day.',
    ),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
});
export type Webhook = z.infer<typeof Webhook>;

export const WebhookEvents = z
  .array(WebhookEventType)
  .min(1)
  .refine((events) => new Set(events).size === events.length, { error: 'must not repeat an event type' })
  .meta({ uniqueItems: true });

export const CreateWebhookDto = z.strictObject({ url: requestText(0, 2048), events: WebhookEvents });
export type CreateWebhookDto = z.infer<typeof CreateWebhookDto>;

export const UpdateWebhookDto = z
  .strictObject({ events: WebhookEvents.optional(), is_enabled: z.boolean().optional() })
  .refine((body) => body.events !== undefined || body.is_enabled !== undefined, {
    error: 'must have events, is_enabled, or both',
  })
  .meta({ minProperties: 1 });
export type UpdateWebhookDto = z.infer<typeof UpdateWebhookDto>;

export const OrderEventType = WebhookEventType.extract(['order:created', 'order:updated', 'order:paid']);
export const PaymentEventType = WebhookEventType.extract(['payment:applied', 'payment:failed', 'payment:refunded']);

const timestamp = z.int().describe('Unix time in milliseconds when the event happened.');

export const OrderWebhookPayload = z.object({
  event: OrderEventType,
  data: Order,
  object_type: z.literal('order'),
  timestamp,
});

export const PaymentWebhookPayload = z.object({
  event: PaymentEventType,
  data: Payment,
  object_type: z.literal('payment'),
  timestamp,
});

/** Body of a webhook delivery. */
export const WebhookPayload = z.discriminatedUnion('object_type', [OrderWebhookPayload, PaymentWebhookPayload]);
export type WebhookPayload = z.infer<typeof WebhookPayload>;
