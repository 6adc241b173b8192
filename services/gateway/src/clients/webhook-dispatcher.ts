import { Replay, type ReplayCall, TestDelivery, type TestDeliveryCall } from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/runtime';
import { z } from 'zod';

/** Calls to the webhook dispatcher. */
export const webhookDispatcherClient = (client: InternalClient) => ({
  sendTest: (test: TestDeliveryCall, context: CallContext): Promise<TestDelivery> =>
    client.call('POST', '/test-deliveries', { context, response: TestDelivery, body: test, idempotent: false }),
  /** Queues a delivery again. Not idempotent once the first redelivery has been sent. */
  redeliver: async (webhookId: string, deliveryId: string, context: CallContext): Promise<void> => {
    const path = `/webhooks/${webhookId}/deliveries/${deliveryId}/redelivery`;
    await client.call('POST', path, { context, response: z.unknown(), idempotent: false });
  },
  /** Starts a replay of a time range. Idempotent by `replay_id`. */
  replay: (webhookId: string, call: ReplayCall, context: CallContext): Promise<Replay> =>
    client.call('POST', `/webhooks/${webhookId}/replays`, { context, response: Replay, body: call }),
  /** Drops the queued deliveries of a deleted webhook. */
  dropQueued: async (webhookId: string, context: CallContext): Promise<void> => {
    await client.call('DELETE', `/webhooks/${webhookId}/deliveries`, { context, response: z.unknown() });
  },
});

export type WebhookDispatcherClient = ReturnType<typeof webhookDispatcherClient>;
