import type { Logger } from '@cpg/runtime';

const WRITE_EVERY_MS = 5_000;

/** Gathers when keys were used, and writes what came together every few seconds. `stop` writes the rest. */
export const createLastUses = ({
  write,
  log,
  everyMs = WRITE_EVERY_MS,
}: {
  write: (uses: ReadonlyMap<string, Date>) => Promise<void>;
  log: Logger;
  everyMs?: number;
}) => {
  let uses = new Map<string, Date>();
  const flush = async () => {
    if (uses.size === 0) return;
    const written = uses;
    uses = new Map();
    try {
      await write(written);
    } catch (error) {
      uses = new Map([...written, ...uses]);
      log.warn({ err: error }, 'could not note when keys were last used, trying again');
    }
  };
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();
  return {
    note: (kid: string, at: Date) => void uses.set(kid, at),
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
};
