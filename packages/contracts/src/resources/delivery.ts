import { z } from 'zod';
import { exampleOf, withExample } from '../example.ts';
import { CreatedAt, DeliveryId, EXAMPLE_IDS, EventId, ReplayId, Timestamp, UpdatedAt, WebhookId } from '../ids.ts';
import { WebhookEventType, WebhookPayload } from './webhook.ts';

export const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export const Delivery = withExample(
  z.object({
    id: DeliveryId.describe('`x-delivery-id` of every attempt.'),
    webhook_id: WebhookId.describe('The webhook: `whk_` and a ULID.'),
    event_id: EventId.describe('`x-idempotency-key` of every attempt.'),
    event_type: WebhookEventType.describe('The type of the event.'),
    status: DeliveryStatus.describe(
      '`pending`: another attempt is planned. `failed`: no further attempt is planned, because all attempts failed or the webhook was disabled or deleted.',
    ),
    attempt_count: z.int().describe('How many attempts were made.'),
    last_status_code: z
      .int()
      .optional()
      .describe(
        'HTTP status of the answer to the last attempt. Absent before the first attempt, and without an answer.',
      ),
    next_attempt_at: Timestamp.optional().describe(
      'When the next attempt is due. Present only while the delivery is `pending`.',
    ),
    created_at: CreatedAt,
    updated_at: UpdatedAt.optional(),
  }),
  {
    id: EXAMPLE_IDS.delivery,
    webhook_id: EXAMPLE_IDS.webhook,
    event_id: EXAMPLE_IDS.event,
    event_type: 'payment:applied',
    status: 'pending',
    attempt_count: 1,
    last_status_code: 503,
    next_attempt_at: '2026-01-31T12:08:15.512Z',
    created_at: '2026-01-31T12:08:10.021Z',
    updated_at: '2026-01-31T12:08:10.512Z',
  },
);
export type Delivery = z.infer<typeof Delivery>;

export const AttemptOutcome = z.enum(['delivered', 'refused', 'timed_out', 'unreachable', 'blocked']);
export type AttemptOutcome = z.infer<typeof AttemptOutcome>;

export const DeliveryAttempt = z.object({
  number: z.int().describe('The number of the attempt, from 1.'),
  outcome: AttemptOutcome.describe(
    '`refused`: the endpoint answered with a status other than 2xx. `unreachable`: the connection could not be made, or it broke. `blocked`: the address is not public.',
  ),
  started_at: Timestamp.describe('When the attempt started.'),
  duration_ms: z.int().describe('How long the attempt took, in milliseconds.'),
  status_code: z.int().optional().describe('HTTP status of the answer, if there was one.'),
  error: z.string().optional().describe('Why there was no complete answer.'),
  response: z
    .string()
    .optional()
    .describe('The first part of the answer body, as text. Shown to keys that may see the `payload`.'),
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

export const DeliveryWithAttempts = withExample(
  Delivery.extend({
    attempts: z.array(DeliveryAttempt).describe('Oldest first, 100 at most.'),
    next_cursor: z.string().optional().describe('The `cursor` of the later attempts. Absent if there are none.'),
    payload: WebhookPayload.optional().describe(
      'The request body, as it was sent. Shown to keys that may read its object: `orders:self:read` for order events, `payments:self:read` for payment events. It is kept for 30 days after the event (or after the replay of an older event) unless the operator configures another period, and is removed when its order is deleted. Without it the delivery cannot be sent again.',
    ),
  }),
  {
    ...exampleOf(Delivery),
    attempts: [
      {
        number: 1,
        outcome: 'refused',
        started_at: '2026-01-31T12:08:10.023Z',
        duration_ms: 487,
        status_code: 503,
        response: 'down for maintenance',
      },
    ],
  },
);
export type DeliveryWithAttempts = z.infer<typeof DeliveryWithAttempts>;

export const ReplayStatus = z.enum(['running', 'paused', 'done', 'canceled']);
export type ReplayStatus = z.infer<typeof ReplayStatus>;

/** Delivers the events of a time range to a webhook again. */
export const Replay = withExample(
  z.object({
    id: ReplayId.describe('The replay: `rpl_` and a ULID.'),
    webhook_id: WebhookId.describe('The webhook: `whk_` and a ULID.'),
    status: ReplayStatus.describe(
      '`running`: events are being queued. `paused`: the webhook is disabled; the replay goes on when the webhook is enabled. `done`: all events are queued. `canceled`: no further event is queued.',
    ),
    from_date: Timestamp.describe('The start of the range.'),
    to_date: Timestamp.describe('Never later than the time of the request: later events are delivered as usual.'),
    event_types: z.array(WebhookEventType).describe('The types of events that are replayed.'),
    queued_events: z
      .int()
      .describe(
        'How many events were queued so far. An event counts again when it is queued again, because its delivery failed while the webhook was disabled.',
      ),
    deferred_orders: z
      .int()
      .describe(
        'Orders whose events follow after those of all other orders: they could not be read, or their deliveries failed while the webhook was disabled.',
      ),
    reached_date: Timestamp.optional().describe(
      'The events of all orders that were created up to this time are queued, except those of deferred orders. Absent until the first order is finished.',
    ),
    created_at: CreatedAt,
    ended_at: Timestamp.optional().describe('When the replay was done or canceled.'),
  }),
  {
    id: EXAMPLE_IDS.replay,
    webhook_id: EXAMPLE_IDS.webhook,
    status: 'running',
    from_date: '2026-01-31T00:00:00.000Z',
    to_date: '2026-02-01T00:00:00.000Z',
    event_types: ['order:paid', 'payment:applied'],
    queued_events: 120,
    deferred_orders: 0,
    reached_date: '2026-01-31T09:30:00.000Z',
    created_at: '2026-02-01T12:00:00.000Z',
  },
);
export type Replay = z.infer<typeof Replay>;
