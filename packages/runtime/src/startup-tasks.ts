import type { Logger } from './logger.ts';
import { retry } from './retry.ts';

/** What a service needs done once before it works in full, in whatever order the others come up. */
export interface StartupTasks {
  /** Does `work` until it succeeds, and resolves to what it made. Rejects only when stopped. */
  readonly run: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  /** The same for what nobody who calls the service waits for: readiness does not ask for it. */
  readonly runOptional: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  /** Rejects while a step is to be done, naming it: for readiness. */
  readonly check: () => Promise<void>;
  readonly stop: () => void;
}

export const createStartupTasks = (log: Logger): StartupTasks => {
  const missing = new Set<string>();
  const stopping = new AbortController();
  const aside = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    retry(work, {
      signal: stopping.signal,
      onError: (error) => log.warn({ err: error }, `${name} cannot be prepared yet, trying again`),
    });
  return {
    run: async (name, work) => {
      missing.add(name);
      const made = await aside(name, work);
      missing.delete(name);
      return made;
    },
    runOptional: aside,
    check: async () => {
      if (missing.size > 0) throw new Error([...missing].join(', '));
    },
    stop: () => stopping.abort(),
  };
};
