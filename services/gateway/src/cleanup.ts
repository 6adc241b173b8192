import type { Logger } from '@cpg/runtime';

const INTERVAL_MS = 10 * 60 * 1000;

/** Runs `deleteExpired` every ten minutes. A failed run is retried by the next one. `stop` waits for a run in
 *  progress. */
export const startCleanup = ({
  deleteExpired,
  log,
  everyMs = INTERVAL_MS,
}: {
  deleteExpired: () => Promise<number>;
  log: Logger;
  everyMs?: number;
}): { stop: () => Promise<void> } => {
  let running = Promise.resolve();
  const run = async () => {
    try {
      const deleted = await deleteExpired();
      if (deleted > 0) log.info({ deleted }, 'deleted expired idempotency keys');
    } catch (error) {
      log.warn({ err: error }, 'could not delete expired idempotency keys');
    }
  };
  const timer = setInterval(() => {
    running = running.then(run);
  }, everyMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
};
