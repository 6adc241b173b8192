import type { ChildProcess } from 'node:child_process';
import { signalsOf } from './process-table.ts';

/** A program to run as a process. */
export interface Program {
  readonly name: string;
  /** Starts the process once. Calls `onSpawn` as soon as it exists, and resolves when it has started. */
  readonly launch: (onSpawn: (child: ChildProcess) => void) => Promise<unknown>;
}

export interface Supervised {
  readonly name: string;
  /** Settles with the first start. */
  readonly started: Promise<void>;
  readonly pid: () => number | null;
  /** Number of crashes since it last ran for more than 10 s. */
  readonly crashes: () => number;
  /** Stops the process and resolves when it has ended. Kills it after `timeoutMs`. It is not restarted. */
  readonly stop: (timeoutMs: number) => Promise<void>;
  /** Kills the process. It is not restarted. */
  readonly kill: () => void;
}

export interface SupervisorOptions {
  readonly warn: (sentence: string) => void;
  /** Called with the process id after each start, and with null after each exit. */
  readonly onPidChange: (pid: number | null) => void;
  readonly delayMs?: (crashes: number) => number;
}

const FIRST_RESTART_DELAY_MS = 100;
const MAX_RESTART_DELAY_MS = 5_000;
const STABLE_AFTER_MS = 10_000;

/** Delay before the restart after crash number `crashes` (1 is the first), in ms. */
export const restartDelayMs = (crashes: number): number =>
  Math.min(FIRST_RESTART_DELAY_MS * 2 ** (crashes - 1), MAX_RESTART_DELAY_MS);

/** Starts a program and restarts it whenever it exits. The delay doubles with each crash. */
export const supervise = (
  { name, launch }: Program,
  { warn, onPidChange, delayMs = restartDelayMs }: SupervisorOptions,
): Supervised => {
  const signals = signalsOf(name);
  let child: ChildProcess | null = null;
  let stopping = false;
  let crashes = 0;
  let restart: NodeJS.Timeout | undefined;

  const start = async (): Promise<void> => {
    let starting = true;
    try {
      await launch((next) => {
        child = next;
        const startedAt = performance.now();
        next.once('exit', (code, signal) => {
          child = null;
          onPidChange(null);
          if (performance.now() - startedAt > STABLE_AFTER_MS) crashes = 0;
          if (!starting) restartLater(signal ? `was killed by ${signal}` : `exited with code ${code}`);
        });
        onPidChange(next.pid ?? null);
        if (stopping) next.kill(signals.stop);
      });
    } finally {
      starting = false;
    }
    if (!child) restartLater('exited during its start');
  };

  const restartLater = (reason: string): void => {
    if (stopping) return;
    crashes += 1;
    const delay = delayMs(crashes);
    warn(`${name} ${reason}; restarting it in ${delay} ms`);
    restart = setTimeout(() => {
      current = start().catch((error: Error) => {
        if (child) warn(`${name} starts slowly: ${error.message}`);
        else restartLater(`could not start: ${error.message}`);
      });
    }, delay);
  };

  const untilEnded = async (): Promise<void> => {
    await current.catch(() => {});
    const last = child;
    if (last) await new Promise((done) => last.once('exit', done));
  };

  const started = start();
  let current = started;
  return {
    name,
    started,
    pid: () => child?.pid ?? null,
    crashes: () => crashes,
    stop: async (timeoutMs) => {
      stopping = true;
      clearTimeout(restart);
      child?.kill(signals.stop);
      const killTimer = setTimeout(() => {
        warn(`${name} did not stop in time and was killed`);
        child?.kill(signals.kill);
      }, timeoutMs);
      await untilEnded();
      clearTimeout(killTimer);
    },
    kill: () => {
      stopping = true;
      clearTimeout(restart);
      child?.kill(signals.kill);
    },
  };
};
