const POLL_MS = 500;

/** Calls `onEnd` once, when the npm that runs this process as a script has ended. A killed npm passes no signal on. Does
 *  nothing outside of npm. Returns a function that ends the watch. */
export const whenNpmEnds = (onEnd: () => void): (() => void) => {
  if (!process.env.npm_lifecycle_event) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onEnd();
  }, POLL_MS).unref();
  return () => clearInterval(timer);
};
