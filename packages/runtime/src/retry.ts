import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  readonly signal?: AbortSignal;
  readonly firstMs?: number;
  readonly maxMs?: number;
  /** Called before each wait; throw from it to give up. */
  readonly onError?: (error: unknown, attempt: number) => void;
}

/** Runs `work` until it succeeds, waiting between tries with exponential backoff and full jitter. Rejects only when `signal` aborts. */
export const retry = async <T>(work: () => Promise<T>, options: RetryOptions = {}): Promise<T> => {
  const { signal, firstMs = 50, maxMs = 2_000, onError } = options;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      onError?.(error, attempt);
      const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 20));
      await sleep(ceiling / 2 + (Math.random() * ceiling) / 2, undefined, { signal });
    }
  }
};
