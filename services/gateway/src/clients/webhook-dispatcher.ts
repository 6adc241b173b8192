import { Replay, type ReplayCall, TestDelivery, type TestDeliveryCall } from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/runtime';
import { z } from 'zod';

/** Calls to the service that delivers webhooks. */
export const webhookDispatcherClient = (client: InternalClient) => ({
  sendTest: (test: TestDeliveryCall, context: CallContext): Promise<TestDelivery> =>
    client.call('POST', '/test-deliveries', { context, response: TestDelivery, body: test, idempotent: false }),
  /** Makes a delivery anew. Again is again, unless the first one still waits. */
  redeliver: async (webhookId: string, deliveryId: string, context: CallContext): Promise<void> => {
    const path = `/webhooks/${webhookId}/deliveries/${deliveryId}/redelivery`;
    await client.call('POST', path, { context, response: z.unknown(), idempotent: false });
  },
  /** Delivers events of a range once more. The same replay id again is the same replay. */
  replay: (webhookId: string, call: ReplayCall, context: CallContext): Promise<Replay> =>
    client.call('POST', `/webhooks/${webhookId}/replays`, { context, response: Replay, body: call }),
  /** Drops what is queued for a deleted webhook. */
  dropQueued: async (webhookId: string, context: CallContext): Promise<void> => {
    await client.call('DELETE', `/webhooks/${webhookId}/deliveries`, { context, response: z.unknown() });
  },
});

export type WebhookDispatcherClient = ReturnType<typeof webhookDispatcherClient>;
