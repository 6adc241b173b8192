import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import type { FastifyInstance } from 'fastify';

export interface UnreadResponseOptions {
  /** A connection is closed when its client has not received a response by then. */
  readonly withinMs?: number;
  /** Bytes of all responses that clients have not received yet. Above it, the oldest are closed. */
  readonly maxBytes?: number;
  /** A response is not closed for its bytes before this age. */
  readonly graceMs?: number;
}

const WITHIN_MS = 60_000;
const MAX_BYTES = 128 * 1024 * 1024;
const GRACE_MS = 1_000;

interface Unread {
  readonly bytes: number;
  readonly sinceMs: number;
}

/** Closes connections whose clients do not read their responses, for every route and with or without a key. Otherwise
 *  such clients fill the memory of the process. Register it before hooks that compress, so that it sees the bytes. */
export const closeUnreadConnections = (app: FastifyInstance, options: UnreadResponseOptions = {}): void => {
  const { withinMs = WITHIN_MS, maxBytes = MAX_BYTES, graceMs = GRACE_MS } = options;
  // In the order of their age.
  const unread = new Map<ServerResponse, Unread>();
  let totalBytes = 0;

  const forget = (response: ServerResponse): void => {
    totalBytes -= unread.get(response)?.bytes ?? 0;
    unread.delete(response);
  };
  const closeOldest = (): void => {
    for (const [response, { sinceMs }] of unread) {
      if (totalBytes <= maxBytes) return;
      const ageMs = performance.now() - sinceMs;
      if (ageMs < graceMs) {
        setTimeout(closeOldest, graceMs - ageMs).unref();
        return;
      }
      forget(response);
      response.socket?.destroy();
    }
  };
  app.addHook('onSend', (request, reply, payload, next) => {
    const response = reply.raw;
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
    unread.set(response, { bytes, sinceMs: performance.now() });
    totalBytes += bytes;
    const timeout = setTimeout(() => request.raw.socket.destroy(), withinMs).unref();
    finished(response, () => {
      clearTimeout(timeout);
      forget(response);
    });
    closeOldest();
    next(null, payload);
  });
};
