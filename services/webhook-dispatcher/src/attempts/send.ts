import { Pool } from 'undici';
import { type ConnectOptions, guardedConnector } from './connect.ts';
import type { Attempt } from '../delivery/delivery.ts';
import { AbortedError, createExchange } from './exchange.ts';

const CONNECT_WITHIN_MS = 5_000;
const ATTEMPT_WITHIN_MS = 15_000;
const IDLE_MS = 60_000;

export interface SenderOptions extends Omit<ConnectOptions, 'timeoutMs'> {
  readonly now: () => Date;
  /** Maximum connections per endpoint. */
  readonly connections: number;
  readonly connectWithinMs?: number;
  readonly attemptWithinMs?: number;
}

export interface Request {
  readonly webhookId: string;
  readonly url: URL;
  readonly headers: string[];
  readonly body: Buffer;
}

export interface Sender {
  /** Posts once. Never rejects: a failure is an attempt with an error. Null when `abort` ended it. */
  readonly post: (request: Request) => Promise<Attempt | null>;
  /** Aborts all attempts in flight. */
  readonly abort: () => void;
  readonly close: () => Promise<void>;
}

/** Sends over keep-alive connections. Each webhook has its own pool, so an endpoint that hangs does not delay others on
 *  its host. */
export const createSender = (options: SenderOptions): Sender => {
  const { now, connections, connectWithinMs = CONNECT_WITHIN_MS, attemptWithinMs = ATTEMPT_WITHIN_MS } = options;
  const connect = guardedConnector({ ...options, timeoutMs: connectWithinMs });
  const pools = new Map<string, { pool: Pool; usedMs: number }>();
  const running = new Set<(reason: Error) => void>();

  const poolOf = (webhookId: string, url: URL): Pool => {
    let entry = pools.get(webhookId);
    if (!entry) {
      entry = { pool: new Pool(url.origin, { connections, connect, headersTimeout: 0, bodyTimeout: 0 }), usedMs: 0 };
      pools.set(webhookId, entry);
    }
    entry.usedMs = performance.now();
    return entry.pool;
  };
  const sweep = setInterval(() => {
    for (const [webhookId, { pool, usedMs }] of pools) {
      if (performance.now() - usedMs < IDLE_MS) continue;
      pools.delete(webhookId);
      void pool.close();
    }
  }, IDLE_MS / 2).unref();

  return {
    post: ({ webhookId, url, headers, body }) =>
      new Promise((resolve) => {
        const startedAt = now();
        const startedMs = performance.now();
        const exchange = createExchange((ending) => {
          clearTimeout(timer);
          running.delete(exchange.abort);
          const attempt = ending && { startedAt, durationMs: Math.round(performance.now() - startedMs), ...ending };
          // undici frees the connection one turn of the event loop after the response. Wait, so that the next attempt
          // can use it.
          setImmediate(() => setImmediate(resolve, attempt));
        });
        const timer = setTimeout(exchange.timeOut, attemptWithinMs);
        running.add(exchange.abort);
        poolOf(webhookId, url).dispatch(
          { method: 'POST', path: url.pathname + url.search, headers, body },
          exchange.handler,
        );
      }),
    abort: () => {
      for (const abort of running) abort(new AbortedError());
    },
    close: async () => {
      clearInterval(sweep);
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
    },
  };
};
