import { finished } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { createMerchantSlots } from '../limits/merchant-slots.ts';
import { callerOf } from '../request.ts';

export interface ConcurrentReadOptions {
  readonly maxPerMerchant?: number;
}

const MAX_PER_MERCHANT = 4;

/** Limits the concurrent reads of each merchant; further reads wait. A read counts from its query until the client has
 *  received the response: a page can have 25 MB, and a client that requests many pages, or does not read them, must not
 *  exhaust the memory that all merchants share. Register it after authentication. */
export const limitConcurrentReads = (
  app: FastifyInstance,
  { maxPerMerchant = MAX_PER_MERCHANT }: ConcurrentReadOptions = {},
): void => {
  const slots = createMerchantSlots({ maxRunning: maxPerMerchant });

  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return;
    const free = await slots.acquire(callerOf(request).merchantId);
    finished(reply.raw, () => free?.());
    // The request timed out or the client disconnected while it waited.
    if (reply.sent || reply.raw.destroyed) return reply.hijack();
  });
};
