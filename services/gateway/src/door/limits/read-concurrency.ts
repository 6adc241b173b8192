import { finished } from 'node:stream';
import { createConcurrencyLimit, type LoadLimits } from '@cpg/platform';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../request.ts';
import { createMerchantSlots } from './merchant-slots.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A query of the route can take seconds. */
    isList?: boolean;
  }
}

export interface ConcurrentReadOptions {
  readonly maxPerMerchant?: number;
  /** Lists of all merchants whose queries run at a time. */
  readonly maxLists?: number;
}

const MAX_PER_MERCHANT = 4;
/** Half of the connections: slow lists leave the others to commands, payment pages and single resources. */
const MAX_LISTS = 5;

/** Limits the concurrent reads of each merchant; further reads wait. A read counts from its query until the query has
 *  ended and the client has received the response: a client that disconnects early must not start more queries, a page
 *  can have 25 MB, and a client that requests many pages, or does not read them, must not exhaust the memory that all
 *  merchants share. Limits also the lists of all merchants whose queries run. Register it after authentication and
 *  before the routes. */
export const limitConcurrentReads = (
  app: FastifyInstance,
  { maxPerMerchant = MAX_PER_MERCHANT, maxLists = MAX_LISTS }: ConcurrentReadOptions = {},
): void => {
  const slots = createMerchantSlots({ maxRunning: maxPerMerchant });
  const lists = createMerchantSlots({ maxRunning: maxPerMerchant, maxTotal: maxLists });
  const reads = new WeakMap<FastifyRequest, Read>();

  app.addHook('onRoute', (route) => {
    const { handler } = route;
    const isList = route.config?.isList ?? false;
    route.handler = async function (request, reply) {
      const read = reads.get(request);
      if (read) read.isRunning = true;
      const freeList = isList ? await lists.acquire(callerOf(request).merchantId) : null;
      try {
        // The request timed out or the client disconnected while it waited.
        if (isList && (reply.sent || reply.raw.destroyed)) return reply.hijack();
        return await handler.call(this, request, reply);
      } finally {
        freeList?.();
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

/** The limits of the requests in progress, one for each class. Creates are refused first: they get the lower limit and
 *  the shorter latency. */
export const createLoadLimits = (): LoadLimits => ({
  create: createConcurrencyLimit(),
  normal: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS, initial: NORMAL_INITIAL, min: NORMAL_MIN }),
  page: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS, initial: 256, min: 64 }),
  callback: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS }),
  keyless: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS }),
});

// Lists with many pages and exports take longer than a create.
const NORMAL_TARGET_MS = 1_000;
const NORMAL_INITIAL = 512;
const NORMAL_MIN = 128;
