import { z } from 'zod';
import { withExample } from '../example.ts';
import { EXAMPLE_IDS, Timestamp } from '../ids.ts';
import { WebhookEventType } from '../resources/webhook.ts';

// Calls that the webhook dispatcher answers. A call without a body has a comment alone.

/** `POST /test-deliveries` -> 201 TestDelivery. Sends an example of an event to one webhook, also to a disabled one.
 *  Not idempotent. 404 if there is no such webhook. */
export const TestDeliveryCall = z.object({ webhook_id: z.string(), event_type: WebhookEventType });
export type TestDeliveryCall = z.infer<typeof TestDeliveryCall>;

export const TestDelivery = withExample(
  z.object({ delivery_id: z.string().describe('The delivery: `dlv_` and a ULID.') }),
  { delivery_id: EXAMPLE_IDS.delivery },
);
export type TestDelivery = z.infer<typeof TestDelivery>;

/** `DELETE /webhooks/:id/deliveries` -> 204. Fails the queued deliveries of a deleted webhook.
 *  Idempotent. */

/** `POST /webhooks/:id/deliveries/:delivery_id/redelivery` -> 204. Requeues the delivery and
 *  restarts its retry schedule. A repeat sends nothing more while the redelivery is queued; after
 *  that, it sends the delivery once more. 404 if the webhook has no such delivery; 409
 *  `webhook_disabled`, and `delivery_expired` if its body is no longer stored. */

/** `POST /webhooks/:id/replays` -> 204 once the replay is durable. Idempotent by replay id. 404 if there is no such
 *  webhook. 409 `webhook_disabled`, and `replay_running` while an earlier replay of the webhook is neither done nor
 *  canceled. 503 `dependency_unavailable` if the dispatcher has no URLs of orders and payments. */
export const ReplayCall = z.object({
  replay_id: z.string(),
  /** Both dates are inclusive, and compared with the time of the event. */
  from_date: Timestamp,
  to_date: Timestamp,
  event_types: z.array(WebhookEventType).min(1),
});
export type ReplayCall = z.infer<typeof ReplayCall>;

/** `POST /webhooks/:id/replays/:replay_id/cancel` -> 204. Changes nothing if the replay is done or canceled. 404 if the
 *  webhook has no such replay. */
