import { AppError } from '@cpg/core';
import type { AnyApp } from './any-app.ts';
import { withTimeout } from './with-timeout.ts';

/** Keeps requests out until the service knows that its data belongs to its environment. */
export interface StartGate {
  readonly open: () => void;
  /** Resolves when the gate is open. Throws `dependency_unavailable` if that takes too long. */
  readonly waitUntilOpen: () => Promise<void>;
}

// The check takes milliseconds while the stores are available: a request during a restart should not fail.
const WAIT_MS = 3_000;

export const createStartGate = (waitMs = WAIT_MS): StartGate => {
  let isOpen = false;
  let resolve = () => {};
  const opened = new Promise<void>((done) => {
    resolve = done;
  });
  return {
    open: () => {
      isOpen = true;
      resolve();
    },
    waitUntilOpen: async () => {
      if (isOpen) return;
      await withTimeout(waitMs, opened).catch((cause: unknown) => {
        throw new AppError('dependency_unavailable', 'the service is starting: retry the request', {
          cause,
          dependency: 'preparation',
        });
      });
    },
  };
};

/** Holds every request of `app` until the gate is open, and answers 503 if that takes too long. */
export const waitForStartGate = (app: AnyApp, gate: Pick<StartGate, 'waitUntilOpen'>): void => {
  app.addHook('onRequest', () => gate.waitUntilOpen());
};
