const STOP_WITHIN_MS = 9_500;
/** Ctrl-C reaches the whole group of processes, and npm passes it on once more: what follows this soon is the same one. */
const SAME_SIGNAL_MS = 500;
const PARENT_POLL_MS = 500;

/** Resolves with an exit code once this process was asked to end and has done so: 0 when it ended politely; 130 when it was asked a second
 *  time, and 1 when it took longer than 9.5 s, both after `atOnce`. Of npm, it also notices the end. */
export const onEnd = ({ politely, atOnce }: { politely: () => Promise<void>; atOnce: () => void }): Promise<number> =>
  new Promise((done) => {
    let askedAt: number | null = null;
    const force = (code: number) => {
      atOnce();
      done(code);
    };
    const asked = () => {
      if (askedAt !== null) {
        if (Date.now() - askedAt > SAME_SIGNAL_MS) force(130);
        return;
      }
      askedAt = Date.now();
      clearInterval(watch);
      setTimeout(force, STOP_WITHIN_MS, 1).unref();
      politely().then(
        () => done(0),
        () => force(1),
      );
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, asked);
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.env.npm_lifecycle_event && process.ppid !== parent) asked();
    }, PARENT_POLL_MS).unref();
  });
