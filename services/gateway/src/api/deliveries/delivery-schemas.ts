import {
  Delivery,
  DeliveryStatus,
  DeliveryWithAttempts,
  pageOf,
  Replay,
  requestText,
  WebhookEvents,
  WebhookEventType,
  withExample,
} from '@cpg/contracts';
import { z } from 'zod';
import { idInPath, NoBody, pathId } from '../ids.ts';
import { Instant, ListQuery, oneOrMore, RangeStart, StatusCode, wholeNumber } from '../lists/list-query.ts';

export const DeliveryPage = pageOf(Delivery);
export const ReplayPage = pageOf(Replay);

const DeliveryListQuery = z.strictObject({
  ...ListQuery.shape,
  status: oneOrMore(DeliveryStatus)
    .optional()
    .describe('Only deliveries with this status. Repeat the parameter for several: `status=pending&status=failed`.'),
  event_type: WebhookEventType.optional().describe('Only deliveries of this type of event.'),
  last_status_code: StatusCode.optional().describe(
    'Only deliveries whose last attempt was answered with this HTTP status.',
  ),
});

const DeliveryQuery = z.strictObject({
  limit: wholeNumber(100, 100).describe('Maximum number of attempts. By default 100.'),
  cursor: requestText(1, 64).optional().describe('Returns the attempts after the response with this `next_cursor`.'),
});

export const ReplayWebhookBody = withExample(
  z
    .strictObject({
      from_date: RangeStart.describe('Replay events that happened at or after this time.'),
      to_date: Instant.describe('Replay events that happened at or before this time.'),
      event_types: WebhookEvents.optional().describe(
        'Event types to replay. By default, all types that the webhook is subscribed to.',
      ),
    })
    .refine(({ from_date, to_date }) => from_date <= to_date, {
      path: ['to_date'],
      error: 'must not be before from_date',
    }),
  { from_date: '2026-01-31T00:00:00Z', to_date: '2026-02-01T00:00:00Z' },
);

const webhookParams = pathId('webhook');
const deliveryParams = webhookParams.extend({ delivery_id: idInPath('delivery') });
const replayParams = webhookParams.extend({ replay_id: idInPath('replay') });
const tags = ['Webhooks'];

export const listAllDeliveries = {
  operationId: 'listAllDeliveries',
  summary: 'List the deliveries of all webhooks',
  description:
    'Lists the deliveries of all webhooks that you have, as the list of one webhook does. Those of deleted webhooks are not among them. Stop when `page >= totalPages`.',
  tags,
  querystring: DeliveryListQuery,
  response: { 200: DeliveryPage },
};

export const listOrderDeliveries = {
  operationId: 'listOrderDeliveries',
  summary: 'List the deliveries of an order',
  description:
    'Lists the deliveries of the events of an order and its payments, to all webhooks that you have, sorted by creation time. Each is found while its body is kept, 30 days unless the operator configured another period. Stop when `page >= totalPages`.',
  tags,
  params: pathId('order'),
  querystring: ListQuery,
  response: { 200: DeliveryPage },
};

export const listDeliveries = {
  operationId: 'listDeliveries',
  summary: 'List the deliveries of a webhook',
  description:
    'Lists the deliveries of a webhook, one per event, sorted by creation time, which is the time in the id. `total` is exact. Deliveries are kept for 90 days after the event, or after the replay of an older event, unless the operator configured another period. Stop when `page >= totalPages`.',
  tags,
  params: webhookParams,
  querystring: DeliveryListQuery,
  response: { 200: DeliveryPage },
};

export const getDelivery = {
  operationId: 'getDelivery',
  summary: 'Retrieve a delivery with its attempts',
  description:
    'Returns a delivery with its attempts, oldest first, 100 at most. An event that was redelivered often has more: `next_cursor` is then the `cursor` of the next ones.',
  tags,
  params: deliveryParams,
  querystring: DeliveryQuery,
  response: { 200: DeliveryWithAttempts },
};

export const redeliver = {
  operationId: 'redeliver',
  summary: 'Redeliver an event',
  description:
    'Sends a delivery again immediately, whether it was delivered, has failed or waits for a retry, and restarts its retry schedule. The new attempt has the same `x-idempotency-key` and the same body. Changes nothing while an attempt is in flight. Returns 409 `webhook_disabled` if the webhook is disabled, and 409 `delivery_expired` if the body is no longer stored.',
  tags,
  params: deliveryParams,
  body: NoBody,
  response: { 201: Delivery },
};

export const replayEvents = {
  operationId: 'replayEvents',
  summary: 'Replay events of a time range',
  description:
    'Delivers all events of the merchant’s orders and payments in the time range again, however old they are. This includes events from before the webhook was created, events while it was disabled, and events that it already received; those have the same `x-idempotency-key` and the same body. Events of deleted orders cannot be replayed. Orders are replayed one after another, oldest first, each with its events in their original order; an order whose events cannot be read at the moment follows after the others. The response is returned when the replay has started; retrieve the replay to watch it, and list the deliveries to see the queued events. A long replay queues events only as fast as the endpoint accepts them. When the webhook is disabled, the replay pauses; when it is enabled again, the replay goes on, and queues events of the range again whose deliveries failed meanwhile. Returns 409 `webhook_disabled` if the webhook is disabled, and 409 `replay_running` while an earlier replay of the webhook is neither done nor canceled.',
  tags,
  params: webhookParams,
  body: ReplayWebhookBody,
  response: { 201: Replay },
};

export const listReplays = {
  operationId: 'listReplays',
  summary: 'List the replays of a webhook',
  description:
    'Lists the replays of a webhook, sorted by creation time. Replays are kept for 90 days after their end, unless the operator configured another period. Stop when `page >= totalPages`.',
  tags,
  params: webhookParams,
  querystring: ListQuery,
  response: { 200: ReplayPage },
};

export const getReplay = {
  operationId: 'getReplay',
  summary: 'Retrieve a replay',
  tags,
  params: replayParams,
  response: { 200: Replay },
};

export const cancelReplay = {
  operationId: 'cancelReplay',
  summary: 'Cancel a replay',
  description:
    'Cancels a replay: no further event is queued. Events that are queued already are delivered. Canceling a canceled replay changes nothing. A replay that is done stays `done`.',
  tags,
  params: replayParams,
  body: NoBody,
  response: { 201: Replay },
};
