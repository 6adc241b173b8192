import { type Dispatcher, Pool } from 'undici';
import { BlockedAddressError, type ConnectOptions, guardedConnector } from './connect.ts';
import type { Attempt } from '../delivery/delivery.ts';

const CONNECT_WITHIN_MS = 5_000;
const ATTEMPT_WITHIN_MS = 15_000;
const IDLE_MS = 60_000;
/** How many bytes of a response's body are read. */
export const RESPONSE_BYTES = 16 * 1_024;
/** How many characters of it are recorded. */
const RECORDED_CHARACTERS = 1_024;

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

/** How a request ended. */
type Ending = Omit<Attempt, 'startedAt' | 'durationMs'>;

/** Ends a request without a result. */
class AbortedError extends Error {}
class TimeoutError extends Error {}

/** Handles one request and its response. Calls `onEnd` once; with null when the request was aborted. */
const createExchange = (onEnd: (ending: Ending | null) => void) => {
  let controller: Dispatcher.DispatchController | undefined;
  let status = 0;
  let retryAfter: string | undefined;
  let received = 0;
  let ended = false;
  const chunks: Buffer[] = [];

  const finish = (ending: Ending | null) => {
    if (ended) return;
    ended = true;
    onEnd(ending);
  };
  const answered = (): Ending => ({
    outcome: status >= 200 && status < 300 ? 'delivered' : 'refused',
    statusCode: status,
    retryAfter,
    response: textOf(chunks),
  });
  const fail = (error: Error) => {
    if (error instanceof AbortedError) return finish(null);
    finish({
      outcome: outcomeOf(error),
      ...(status > 0 && { statusCode: status, response: textOf(chunks) }),
      error: printable(describe(error)),
    });
  };
  const abort = (error: Error) => {
    fail(error);
    controller?.abort(error);
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (started) => {
      controller = started;
      // The attempt timed out while it waited for a connection.
      if (ended) started.abort(new TimeoutError('the attempt has timed out'));
    },
    onResponseStart: (_controller, statusCode, headers) => {
      if (statusCode < 200) return;
      status = statusCode;
      const header = headers['retry-after'];
      retryAfter = Array.isArray(header) ? header[0] : header;
    },
    onResponseData: (current, chunk) => {
      if (received < RESPONSE_BYTES) chunks.push(chunk.subarray(0, RESPONSE_BYTES - received));
      received += chunk.length;
      if (received <= RESPONSE_BYTES) return;
      // The status decides the outcome; the rest of the body is not needed.
      finish(answered());
      current.abort(new AbortedError('the response body is too long'));
    },
    onResponseEnd: () => finish(answered()),
    onResponseError: (_controller, error) => fail(error),
  };
  return {
    handler,
    timeOut: () => abort(new TimeoutError('the attempt took too long')),
    abort,
  };
};

const outcomeOf = (error: Error): Attempt['outcome'] => {
  if (error instanceof BlockedAddressError) return 'blocked';
  const timedOut = error instanceof TimeoutError || (error as { code?: string }).code === 'UND_ERR_CONNECT_TIMEOUT';
  return timedOut ? 'timed_out' : 'unreachable';
};

/** Node's error for a host whose addresses all failed has no message, but the error of each address. */
const describe = (error: Error): string => {
  const { code, errors } = error as { code?: string; errors?: readonly Error[] };
  if (errors && error.message === '') return errors.map(String).join('; ');
  return code && !error.message.includes(code) ? `${code}: ${error.message}` : error.message;
};

const textOf = (chunks: readonly Buffer[]): string | undefined =>
  chunks.length === 0 ? undefined : printable(Buffer.concat(chunks).toString('utf8'));

// PostgreSQL's text type stores every character but NUL.
const printable = (text: string): string => text.replaceAll('\0', '').slice(0, RECORDED_CHARACTERS);
