import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly timeoutMs: number;
  /** The value of `performance.now()` after which nobody waits for the response. */
  readonly deadlineMs: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RetryPolicy {
  /** How long to retry while connections are refused. */
  readonly connectRetryMs: number;
  /** Whether to retry after a connection broke, when the service may already have processed the request. */
  readonly idempotent: boolean;
}

export const DEFAULT_CONNECT_RETRY_MS = 8_000;

const BROKEN_CONNECTION = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const BROKEN_CONNECTION_ATTEMPTS = 2;

/** Wraps `send` with retries for refused and broken connections. Concurrent calls share the time since the first
 *  refusal: once a service has refused connections for longer than a restart takes, further calls fail at once. */
export const retryingSender = (send: (request: HttpRequest, idempotent: boolean) => Promise<HttpResponse>) => {
  let refusals: { readonly since: number; last: number } | null = null;

  /** Records a refused connection. Returns how long the service has refused connections, in ms. */
  const recordRefusal = (): number => {
    const now = performance.now();
    if (!refusals || now - refusals.last > DEFAULT_CONNECT_RETRY_MS) refusals = { since: now, last: now };
    refusals.last = now;
    return now - refusals.since;
  };

  return async (request: HttpRequest, { connectRetryMs, idempotent }: RetryPolicy): Promise<HttpResponse> => {
    let brokenConnections = 0;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await send(request, idempotent);
        refusals = null;
        return response;
      } catch (error) {
        const { code = '' } = error as { code?: string };
        if (code === 'ECONNREFUSED') {
          if (recordRefusal() >= connectRetryMs) throw error;
        } else {
          brokenConnections += 1;
          const isLastAttempt = brokenConnections >= BROKEN_CONNECTION_ATTEMPTS;
          if (!idempotent || !BROKEN_CONNECTION.has(code) || isLastAttempt) throw error;
        }
        await sleep(Math.min(20 * 2 ** attempt, 200) * (0.5 + Math.random() / 2));
      }
    }
  };
};
