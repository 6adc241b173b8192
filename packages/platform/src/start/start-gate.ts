import { AppError } from '@cpg/contracts';
import type { AnyApp } from '../http/any-app.ts';
import { ConfigError } from '../config/config.ts';
import { withTimeout } from '../outages/retry.ts';

/** Keeps requests out until the service knows that its data belongs to its environment. */
export interface StartGate {
  readonly open: () => void;
  /** Refuses every request from now on: an operator has to act. `reason` is for the readiness check. */
  readonly refuse: (reason: Error) => void;
  /** Resolves when the gate is open. Throws `dependency_unavailable` if that takes too long. */
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
  const refuse = (cause: unknown): never => {
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
      if (refusal) refuse(refusal);
      await withTimeout(waitMs, opened).catch((cause: unknown) => {
        throw new AppError('dependency_unavailable', 'the service is starting: retry the request', {
          cause,
          dependency: 'preparation',
        });
      });
      if (refusal) refuse(refusal);
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
