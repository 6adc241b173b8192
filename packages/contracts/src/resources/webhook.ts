import { z } from 'zod';
import { withExample } from '../example.ts';
import { CreatedAt, EXAMPLE_IDS, OwnerId, UpdatedAt, WebhookId } from '../ids.ts';
import { choicesOf } from './choices.ts';
import { Order } from './order.ts';
import { OrderReference } from './order-reference.ts';
import { Payment } from './payment.ts';
import { Refund } from './refund.ts';
import { requestText } from './text.ts';

/** Every webhook event: when it is sent, and the message whose example is its sample. The definitions of domain events
 *  name the webhook events that they cause. */
export const WEBHOOK_EVENTS = {
  'order:created': { when: 'A new order was created.', sample: 'order.created' },
  'order:updated': {
    when: 'What `GET /v1/orders/{id}` shows has changed, its payments included: a payment was seen, confirmed, applied, refunded or has failed, or became an orphan; or its status, amounts, deadline or metadata changed.',
    sample: 'order.payment_received',
  },
  'order:paid': {
    when: 'An order is fully paid. It follows the `order:updated` of the same change.',
    sample: 'order.paid',
  },
  'payment:received': {
    when: 'A rail saw a payment, or saw it again after it had failed; or an operator assigned money to you. The order decides on it once it is confirmed.',
    sample: 'payment.received',
  },
  'payment:orphaned': {
    when: 'A payment does not count for its order: `orphan_reason` says why. It is due for refund, unless a capture applies it.',
    sample: 'payment.orphaned',
  },
  'payment:applied': { when: 'A payment was applied to its order.', sample: 'payment.applied' },
  'payment:failed': { when: 'The rail dropped or reversed a payment.', sample: 'payment.failed' },
  'payment:refunded': {
    when: 'A refund was recorded, or is settled on its chain, of all or a part of a payment. `refund` is that refund.',
    sample: 'payment.refunded',
  },
  'payment:refund_claimed': {
    when: 'The payer confirmed an address for a refund on its claim link. `refund` is that refund, with `destination`: `POST /v1/refunds/{id}/request` returns what to send.',
    sample: 'payment.refund_claimed',
  },
} as const;
export type WebhookEventType = keyof typeof WEBHOOK_EVENTS;

type EventTypeOf<O extends 'order' | 'payment'> = Extract<WebhookEventType, `${O}:${string}`>;

const EVENT_TYPES = Object.keys(WEBHOOK_EVENTS) as WebhookEventType[];
const eventTypesOf = <O extends 'order' | 'payment'>(object: O) =>
  z.enum(EVENT_TYPES.filter((type): type is EventTypeOf<O> => type.startsWith(`${object}:`)));

export const WebhookEventType = z.enum(EVENT_TYPES);
export const OrderEventType = eventTypesOf('order');
export const PaymentEventType = eventTypesOf('payment');

/** Selects the events of orders by one key of their metadata. */
export const WebhookFilter = withExample(
  z
    .record(requestText(1, 255), requestText(0, 255))
    .refine((filter) => Object.keys(filter).length === 1, { error: 'must have exactly one key of metadata' })
    .meta({ minProperties: 1, maxProperties: 1 }),
  { shop: 'b2c' },
);
export type WebhookFilter = z.infer<typeof WebhookFilter>;

const WebhookLabel = requestText(1, 100);
const FILTER_MEANING =
  'The webhook receives only events of orders whose `metadata` has this value at this key. The value is exact: text, or a number, `true` or `false` as JSON writes it.';

export const Webhook = withExample(
  z.object({
    id: WebhookId.describe('The webhook: `whk_` and a ULID.'),
    merchant_id: OwnerId,
    url: z.string().describe('The URL that receives the events.'),
    events: z.array(WebhookEventType).describe('The types of events that the webhook receives.'),
    label: z.string().optional().describe('Your name for the webhook. Absent if it has none.'),
    filter: WebhookFilter.optional().describe(
      `${FILTER_MEANING} Absent if the webhook receives the events of all orders.`,
    ),
    is_enabled: z.boolean().describe('Whether events are delivered. The configuration is kept while it is `false`.'),
    disabled_reason: z
      .string()
      .optional()
      .describe(
        'Why the service disabled the webhook: its endpoint answered 410, or all attempts failed for 5 days, at least 10 of them, the last within a day.',
      ),
    created_at: CreatedAt.optional(),
    updated_at: UpdatedAt.optional(),
  }),
  {
    id: EXAMPLE_IDS.webhook,
    merchant_id: EXAMPLE_IDS.merchant,
    url: 'https://shop.example/hooks/payments',
    events: ['order:paid', 'payment:applied'],
    is_enabled: false,
    created_at: '2026-01-31T12:00:00.000Z',
  },
);
export type Webhook = z.infer<typeof Webhook>;

export const WebhookEvents = choicesOf(WebhookEventType, 'an event type');

export const CreateWebhookDto = withExample(
  z.strictObject({
    url: requestText(0, 2048).describe('A public HTTPS URL. It cannot be changed later.'),
    events: WebhookEvents.describe('The types of events that the webhook receives.'),
    label: WebhookLabel.optional().describe('Your name for the webhook, for example the name of a shop.'),
    filter: WebhookFilter.optional().describe(`${FILTER_MEANING} Without it, events of all orders.`),
  }),
  { url: 'https://shop.example/hooks/payments', events: ['order:paid', 'payment:applied'] },
);
export type CreateWebhookDto = z.infer<typeof CreateWebhookDto>;

export const UpdateWebhookDto = z
  .strictObject({
    events: WebhookEvents.optional().describe(
      'The types of events that the webhook receives from now on: all of them, because the list replaces the earlier one.',
    ),
    label: WebhookLabel.nullable().optional().describe('Your name for the webhook. `null` removes it.'),
    filter: WebhookFilter.nullable()
      .optional()
      .describe(
        `${FILTER_MEANING} \`null\` removes the filter. A change counts for events that are queued from then on.`,
      ),
    is_enabled: z
      .boolean()
      .optional()
      .describe('Whether events are delivered. The configuration is kept while it is `false`.'),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: 'must have events, label, filter or is_enabled',
  })
  .meta({ minProperties: 1 });
export type UpdateWebhookDto = z.infer<typeof UpdateWebhookDto>;

const timestamp = z.int().describe('Unix time in milliseconds when the event happened.');

export const OrderWebhookPayload = z.object({
  event: OrderEventType.describe('What happened.'),
  data: Order.describe('The order right after the event.'),
  object_type: z.literal('order').describe('The type of `data`.'),
  timestamp,
});

export const PaymentWebhookPayload = z.object({
  event: PaymentEventType.describe('What happened.'),
  data: Payment.describe('The payment right after the event.'),
  // Each `payment:*` event has it. Whoever selects events by the metadata of their order finds it here, and in `data`
  // of an event about an order.
  order: OrderReference.optional().describe(
    'How you know the order of the payment: its values when the payment was first seen, or was assigned to the order. Later changes of the metadata do not show here. Absent if the payment belongs to no order.',
  ),
  object_type: z.literal('payment').describe('The type of `data`.'),
  refund: Refund.optional().describe('The refund. Present in `payment:refunded` and `payment:refund_claimed` alone.'),
  timestamp,
});

/** Body of a webhook delivery. */
export const WebhookPayload = z.discriminatedUnion('object_type', [OrderWebhookPayload, PaymentWebhookPayload]);
export type WebhookPayload = z.infer<typeof WebhookPayload>;
