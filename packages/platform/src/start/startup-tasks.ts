import { ConfigError } from '../config/config.ts';
import { FatalStartError } from '../config/fatal-start-error.ts';
import type { Logger } from '../log/logger.ts';
import { retry } from '../outages/retry.ts';
import { exitWithStartError } from './run-service.ts';

/** Work that a service does once at its start and retries until it succeeds. Services can therefore start in any
 *  order. */
export interface StartupTasks {
  /** Retries `work` until it succeeds. The service is not ready before that. Rejects only after `stop`; a
   *  FatalStartError ends the process. */
  readonly run: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  /** Like `run`, but readiness does not wait for it, unless it failed with a ConfigError: only the operator can
   *  help. */
  readonly runOptional: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  /** Readiness check. Rejects with the names of the unfinished tasks, and a ConfigError as cause if there is one. */
  readonly check: () => Promise<void>;
  readonly stop: () => void;
}

export const createStartupTasks = (
  log: Logger,
  onFatal: (error: FatalStartError) => void = exitWithStartError,
): StartupTasks => {
  /** With what the operator has to correct. */
  const unfinished = new Map<string, ConfigError | null>();
  const stopping = new AbortController();
  const runOptional = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    retry(work, {
      signal: stopping.signal,
      onError: (error) => {
        if (error instanceof FatalStartError) {
          onFatal(error);
          throw error;
        }
        const correction = error instanceof ConfigError ? error : null;
        const isLogged = correction !== null && correction.message === unfinished.get(name)?.message;
        if (correction || unfinished.has(name)) unfinished.set(name, correction);
        if (isLogged) return;
        log[correction ? 'error' : 'warn']({ err: error, task: name }, 'startup task failed, retrying');
      },
    }).then((result) => {
      unfinished.delete(name);
      return result;
    });
  return {
    run: async (name, work) => {
      unfinished.set(name, null);
      return runOptional(name, work);
    },
    runOptional,
    check: async () => {
      if (unfinished.size === 0) return;
      const cause = [...unfinished.values()].find((correction) => correction !== null);
      throw new Error(`unfinished startup tasks: ${[...unfinished.keys()].join(', ')}`, { cause });
    },
    stop: () => stopping.abort(),
  };
};
