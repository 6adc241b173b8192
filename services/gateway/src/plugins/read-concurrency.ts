import { finished } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createMerchantSlots } from '../limits/merchant-slots.ts';
import { callerOf } from '../request.ts';

export interface ConcurrentReadOptions {
  readonly maxPerMerchant?: number;
}

const MAX_PER_MERCHANT = 4;

/** Limits the concurrent reads of each merchant; further reads wait. A read counts from its query until the query has
 *  ended and the client has received the response: a client that disconnects early must not start more queries, a page
 *  can have 25 MB, and a client that requests many pages, or does not read them, must not exhaust the memory that all
 *  merchants share. Register it after authentication and before the routes. */
export const limitConcurrentReads = (
  app: FastifyInstance,
  { maxPerMerchant = MAX_PER_MERCHANT }: ConcurrentReadOptions = {},
): void => {
  const slots = createMerchantSlots({ maxRunning: maxPerMerchant });
  const reads = new WeakMap<FastifyRequest, Read>();

  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = async function (request, reply) {
      const read = reads.get(request);
      if (read) read.isRunning = true;
      try {
        return await handler.call(this, request, reply);
      } finally {
        if (read) {
          read.isRunning = false;
          if (read.isClosed) read.free();
        }
      }
    };
  });
  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return;
    const free = (await slots.acquire(callerOf(request).merchantId))!;
    // The request timed out or the client disconnected while it waited.
    if (reply.sent || reply.raw.destroyed) {
      free();
      return reply.hijack();
    }
    const read: Read = { free, isRunning: false, isClosed: false };
    reads.set(request, read);
    finished(reply.raw, () => {
      read.isClosed = true;
      if (!read.isRunning) free();
    });
  });
};

interface Read {
  readonly free: () => void;
  /** Whether the handler runs. */
  isRunning: boolean;
  /** Whether the client has the response, or is gone. */
  isClosed: boolean;
}
