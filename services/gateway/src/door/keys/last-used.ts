import type { Logger } from '@cpg/platform';

const FLUSH_INTERVAL_MS = 5_000;

/** A request with a key. */
export interface KeyUse {
  readonly at: Date;
  /** Of the client. */
  readonly address: string;
}

export interface LastUsedTracker<Use> {
  /** Replaces an earlier use of the same. */
  readonly record: (what: string, use: Use) => void;
  /** Stops the timer and writes what is not yet written. */
  readonly stop: () => Promise<void>;
}

/** Collects the last uses of keys, and writes them in batches. A failed batch is retried with the next one. */
export const createLastUsedTracker = <Use = KeyUse>({
  write,
  log,
  everyMs = FLUSH_INTERVAL_MS,
}: {
  write: (uses: ReadonlyMap<string, Use>) => Promise<void>;
  log: Logger;
  everyMs?: number;
}): LastUsedTracker<Use> => {
  let pending = new Map<string, Use>();
  const writePending = async () => {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await write(batch);
    } catch (error) {
      pending = new Map([...batch, ...pending]);
      log.warn({ err: error }, 'could not store when keys were last used, will retry');
    }
  };
  // One after another: `stop` waits for a write in flight, and writes again what it could not.
  let writing = Promise.resolve();
  const flush = (): Promise<void> => (writing = writing.then(writePending));
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();
  return {
    record: (what, use) => void pending.set(what, use),
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
};
