const STOP_TIMEOUT_MS = 9_500;
// Ctrl-C reaches the whole process group, and npm passes it on again. Signals within this time count as one.
const SAME_SIGNAL_MS = 500;
const PARENT_POLL_MS = 500;

/** Calls `stop` on SIGINT, SIGTERM or SIGHUP, or when npm exits. Resolves to the exit code: 0 after `stop`.
 *  A second signal calls `kill` and gives 130. After 9.5 s or a failed `stop` it calls `kill` and gives 1. */
export const runUntilSignal = ({ stop, kill }: { stop: () => Promise<void>; kill: () => void }): Promise<number> =>
  new Promise((done) => {
    let signalledAt: number | null = null;
    const killAndExit = (code: number) => {
      kill();
      done(code);
    };
    const onSignal = () => {
      if (signalledAt !== null) {
        if (performance.now() - signalledAt > SAME_SIGNAL_MS) killAndExit(130);
        return;
      }
      signalledAt = performance.now();
      clearInterval(parentCheck);
      setTimeout(killAndExit, STOP_TIMEOUT_MS, 1).unref();
      stop().then(
        () => done(0),
        () => killAndExit(1),
      );
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    const parent = process.ppid;
    const parentCheck = setInterval(() => {
      if (process.env.npm_lifecycle_event && process.ppid !== parent) onSignal();
    }, PARENT_POLL_MS).unref();
  });
