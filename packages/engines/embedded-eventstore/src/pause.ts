import { setImmediate } from 'node:timers/promises';

const MAX_BUSY_MS = 20;

/** Returns a function for a long loop. It lets other calls run whenever the loop has kept the process busy for 20
 *  ms. */
export const createPause = (): (() => Promise<void> | undefined) => {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_BUSY_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
};
