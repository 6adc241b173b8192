import { AppError } from '@cpg/contracts';
import { ConfigError, FatalStartError } from '../config/config.ts';
import type { AnyApp } from '../http/any-app.ts';
import type { Logger } from '../log/logger.ts';
import { retry, withTimeout } from '../outages/retry.ts';
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

/** Keeps requests out until the service knows that its data belongs to its environment. */
export interface StartGate {
  readonly open: () => void;
  /** Refuses every request from now on: an operator has to act. `reason` is for the readiness check. */
  readonly refuse: (reason: Error) => void;
  /** Resolves when the gate is open. Throws `dependency_unavailable` if that takes too long, or while requests are
   *  refused. */
  readonly waitUntilOpen: () => Promise<void>;
  /** Readiness check: rejects with the reason while requests are refused. */
  readonly check: () => Promise<void>;
}

// The check takes milliseconds while the stores are available: a request during a restart should not fail.
const WAIT_MS = 3_000;

export const createStartGate = (waitMs = WAIT_MS): StartGate => {
  let isOpen = false;
  let refusal: Error | null = null;
  let resolve = () => {};
  const opened = new Promise<void>((done) => {
    resolve = done;
  });
  const throwRefusal = (cause: unknown): never => {
    throw new AppError('dependency_unavailable', 'an operator has to repair the service: retry later', { cause });
  };
  return {
    open: () => {
      isOpen = true;
      refusal = null;
      resolve();
    },
    refuse: (reason) => {
      isOpen = false;
      refusal = reason;
    },
    waitUntilOpen: async () => {
      if (isOpen) return;
      if (refusal) throwRefusal(refusal);
      await withTimeout(waitMs, opened).catch((cause: unknown) => {
        if (refusal) throwRefusal(refusal);
        throw new AppError('dependency_unavailable', 'the service is starting: retry the request', {
          cause,
          dependency: 'preparation',
        });
      });
      if (refusal) throwRefusal(refusal);
    },
    check: async () => {
      // Readiness answers with the message of a ConfigError: an operator has to act.
      if (refusal) throw new ConfigError(refusal.message, { cause: refusal });
    },
  };
};

/** Holds every request of `app` until the gate is open, and answers 503 if that takes too long. */
export const waitForStartGate = (app: AnyApp, gate: Pick<StartGate, 'waitUntilOpen'>): void => {
  app.addHook('onRequest', () => gate.waitUntilOpen());
};
