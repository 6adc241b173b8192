import { finished } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../request.ts';

export interface TurnsOptions {
  /** Reads of one merchant at once. */
  readonly atOnce?: number;
  /** Whoever has not taken an answer by then is hung up on. */
  readonly takenWithinMs?: number;
}

// Of one merchant: enough for as many lists a second as without turns.
const READS_AT_ONCE = 4;
const TAKEN_WITHIN_MS = 60_000;

/** Reads of one merchant take turns, from the query until the answer has been taken: a page may be 25 MB, and whoever asks for many at
 *  once, or takes none of them, shall not use up the memory and the time that all merchants share. Registered after authentication. */
export const takeTurns = (
  app: FastifyInstance,
  { atOnce = READS_AT_ONCE, takenWithinMs = TAKEN_WITHIN_MS }: TurnsOptions = {},
): void => {
  const merchants = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return;
    const { merchantId } = callerOf(request);
    const reads = merchants.get(merchantId) ?? { running: 0, waiting: [] };
    merchants.set(merchantId, reads);
    if (reads.running < atOnce) reads.running += 1;
    else await new Promise<void>((turn) => reads.waiting.push(turn));

    const alarm = setTimeout(() => request.raw.socket.destroy(), takenWithinMs);
    finished(reply.raw, () => {
      clearTimeout(alarm);
      const next = reads.waiting.shift();
      if (next) return next();
      reads.running -= 1;
      if (reads.running === 0) merchants.delete(merchantId);
    });
    // It was refused, or its caller left, while it waited.
    if (reply.sent || reply.raw.destroyed) return reply.hijack();
  });
};
