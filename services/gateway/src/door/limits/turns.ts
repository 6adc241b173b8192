import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves for one caller in each turn of the event loop, in the order of the calls. Between two of them, the process
 *  answers other requests, however many callers wait. */
export const createTurns = (): (() => Promise<void>) => {
  let last = Promise.resolve();
  return () => (last = last.then(() => nextTurn()));
};
