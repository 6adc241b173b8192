import { AppError } from '@cpg/core';
import type { AnyApp } from './any-app.ts';

/** Keeps requests out until the service knows that its data belongs to its environment. */
export interface StartGate {
  readonly open: () => void;
  readonly isOpen: () => boolean;
}

export const createStartGate = (): StartGate => {
  let isOpen = false;
  return { open: () => void (isOpen = true), isOpen: () => isOpen };
};

/** Answers 503 to every request of `app` while the gate is closed. */
export const refuseUntilOpen = (app: AnyApp, gate: Pick<StartGate, 'isOpen'>): void => {
  app.addHook('onRequest', async () => {
    if (!gate.isOpen()) throw new AppError('dependency_unavailable', 'the service is starting: retry the request');
  });
};
