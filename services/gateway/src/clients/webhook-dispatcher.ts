import { TestDelivery, type TestDeliveryCall } from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/runtime';
import { z } from 'zod';

/** Calls to the service that delivers webhooks. */
export const webhookDispatcherClient = (client: InternalClient) => ({
  sendTest: (test: TestDeliveryCall, context: CallContext): Promise<TestDelivery> =>
    client.call('POST', '/test-deliveries', { context, response: TestDelivery, body: test }),
  /** Drops what is queued for a deleted webhook. */
  dropQueued: async (webhookId: string, context: CallContext): Promise<void> => {
    await client.call('DELETE', `/webhooks/${webhookId}/deliveries`, { context, response: z.unknown() });
  },
});

export type WebhookDispatcherClient = ReturnType<typeof webhookDispatcherClient>;
