import { type ReplayCall, TestDelivery, type TestDeliveryCall } from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/platform';
import { z } from 'zod';

const NoContent = z.undefined();

/** Calls to the webhook dispatcher. */
export const webhookDispatcherClient = (client: InternalClient) => ({
  /** Queues a delivery of a sample event, in a sandbox only. Not idempotent: each call sends one delivery. */
  sendTest: (test: TestDeliveryCall, context: CallContext): Promise<TestDelivery> =>
    client.call('POST', '/test-deliveries', { context, response: TestDelivery, body: test, idempotent: false }),
  /** Requeues a delivery. A repeat sends nothing more while the redelivery is queued; after that, it sends the delivery
   *  once more. */
  redeliver: async (webhookId: string, deliveryId: string, context: CallContext): Promise<void> => {
    const path = `/webhooks/${webhookId}/deliveries/${deliveryId}/redelivery`;
    await client.call('POST', path, { context, response: NoContent, idempotent: false });
  },
  /** Starts a replay of a time range. A repeat with the same `replay_id` starts no second one. */
  replay: async (webhookId: string, replay: ReplayCall, context: CallContext): Promise<void> => {
    await client.call('POST', `/webhooks/${webhookId}/replays`, { context, response: NoContent, body: replay });
  },
  /** Cancels a replay. Idempotent. */
  cancelReplay: async (webhookId: string, replayId: string, context: CallContext): Promise<void> => {
    await client.call('POST', `/webhooks/${webhookId}/replays/${replayId}/cancel`, { context, response: NoContent });
  },
  /** Fails the queued deliveries of a deleted webhook. Idempotent. */
  failQueuedDeliveries: async (webhookId: string, context: CallContext): Promise<void> => {
    await client.call('DELETE', `/webhooks/${webhookId}/deliveries`, { context, response: NoContent });
  },
});

export type WebhookDispatcherClient = ReturnType<typeof webhookDispatcherClient>;
