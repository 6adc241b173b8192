import type { Logger } from '@cpg/runtime';

const EVERY_MS = 10 * 60 * 1000;

/** Runs `clean` now and then. A run that fails is the next one's work; `stop` waits for the one that runs. */
export const startCleaning = ({
  clean,
  log,
  everyMs = EVERY_MS,
}: {
  clean: () => Promise<number>;
  log: Logger;
  everyMs?: number;
}): { stop: () => Promise<void> } => {
  let running = Promise.resolve();
  const run = async () => {
    try {
      const forgotten = await clean();
      if (forgotten > 0) log.info({ forgotten }, 'forgot expired idempotency keys');
    } catch (error) {
      log.warn({ err: error }, 'could not forget expired idempotency keys');
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
