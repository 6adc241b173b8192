import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or earlier. Rejects when `signal` aborts. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface RetryOptions {
  readonly signal?: AbortSignal;
  readonly firstMs?: number;
  readonly maxMs?: number;
  /** Waits between attempts. Default: a timer; that of `Outages` ends early when a dependency is back. */
  readonly wait?: Wait;
  /** Called before each wait; `attempt` starts at 1. Throw from it to stop retrying. */
  readonly onError?: (error: unknown, attempt: number) => void;
}

/** Retries `work` until it succeeds. Rejects when `signal` aborts or `onError` throws.
 *  The waits grow exponentially from `firstMs` to `maxMs`; jitter shortens each by up to half.
 *  (The package `p-retry` never retries a TypeError, and has no jitter once the waits reach their maximum.) */
export const retry = async <T>(work: () => Promise<T>, options: RetryOptions = {}): Promise<T> => {
  const { signal, firstMs = 50, maxMs = 2_000, wait = sleepFor, onError } = options;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      onError?.(error, attempt);
      const backoffMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 20));
      await wait(backoffMs / 2 + (Math.random() * backoffMs) / 2, signal);
    }
  }
};

/** Options for work that fails while a dependency is unavailable: waits of 0.1 to 5 s that end when it is back. Without
 *  `wait` nothing ends them, so the default limit applies. */
export const untilBack = (wait: Wait | undefined): Pick<RetryOptions, 'wait' | 'firstMs' | 'maxMs'> =>
  wait ? { wait, firstMs: 100, maxMs: 5_000 } : {};

const sleepFor: Wait = (ms, signal) => sleep(ms, undefined, { signal });

/** Resolves once `signal` is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) return done();
    signal.addEventListener('abort', () => done(), { once: true });
  });

/** Resolves to the result of `work`, or rejects after `ms`. It does not cancel `work`. */
export const withTimeout = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
};

/** Runs `work` with a signal that aborts with `signal`, or with a TimeoutError after `ms`.
 *  In Node.js 20, `AbortSignal.any` lets an `AbortSignal.timeout` be collected as garbage before it fires
 *  (nodejs/node#57736). */
export const withTimeoutSignal = async <T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new DOMException(`timed out after ${ms} ms`, 'TimeoutError')), ms);
  try {
    return await work(AbortSignal.any([signal, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
};
