import type { Logger } from '@cpg/platform';

const INTERVAL_MS = 10 * 60 * 1000;

/** Deletes data that is no longer needed. Returns the number of rows. */
type CleanupTask = () => Promise<number>;

/** Runs `tasks`, each with the sentence to log, every ten minutes. A failed task is retried by the next run. `stop`
 *  waits for a run in progress. */
export const startCleanup = ({
  tasks,
  log,
  everyMs = INTERVAL_MS,
}: {
  tasks: Readonly<Record<string, CleanupTask>>;
  log: Logger;
  everyMs?: number;
}): { stop: () => Promise<void> } => {
  let running = Promise.resolve();
  const run = async () => {
    for (const [sentence, task] of Object.entries(tasks)) {
      try {
        const count = await task();
        if (count > 0) log.debug({ count }, sentence);
      } catch (error) {
        log.warn({ err: error, task: sentence }, 'cleanup failed, will retry');
      }
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
