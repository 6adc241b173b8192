import { retry } from '../outages/retry.ts';

// deadlock_detected, and serialization_failure, which is its like at stricter isolation levels.
const ENDED_FOR_ANOTHER = new Set(['40P01', '40001']);
const MAX_ATTEMPTS = 5;

/** Whether PostgreSQL rolled the transaction back because it and others waited for each other. Nothing is unavailable:
 *  the same transaction succeeds once the others are done. */
export const isDeadlock = (error: unknown): boolean =>
  ENDED_FOR_ANOTHER.has((error as { readonly code?: string } | null)?.code ?? '');

/** Runs a whole transaction, or a statement outside of one, again after a deadlock: at most five times, after random
 *  waits of 10 to 200 ms. PostgreSQL counts and logs deadlocks itself. */
export const retryDeadlocks = <T>(work: () => Promise<T>): Promise<T> =>
  retry(work, {
    firstMs: 20,
    maxMs: 200,
    onError: (error, attempt) => {
      if (attempt >= MAX_ATTEMPTS || !isDeadlock(error)) throw error;
    },
  });
