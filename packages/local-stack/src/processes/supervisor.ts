import type { ChildProcess } from 'node:child_process';
import { signalsOf } from './signals.ts';

/** Something that is to run all the time, as a process of its own. */
export interface Program {
  readonly name: string;
  /** Starts it once and tells `spawned` as soon as the process exists; resolves when it has started. */
  readonly launch: (spawned: (child: ChildProcess) => void) => Promise<unknown>;
}

export interface Supervised {
  readonly name: string;
  /** The first start; the later ones are nobody's concern but the supervisor's. */
  readonly started: Promise<void>;
  readonly pid: () => number | null;
  /** How often it ended by itself since it last lived long. */
  readonly deaths: () => number;
  /** Asks the process to stop and resolves when it is gone, by force after `withinMs`. It is not started again. */
  readonly stop: (withinMs: number) => Promise<void>;
  /** Ends it at once. */
  readonly kill: () => void;
}

export interface SupervisorOptions {
  readonly warn: (sentence: string) => void;
  /** Called with each new process id, and with null when that process is gone. */
  readonly changed: (pid: number | null) => void;
  readonly delayMs?: (deaths: number) => number;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
const STABLE_AFTER_MS = 10_000;

/** Milliseconds to wait before a program starts again that died `deaths` times (1 is the first), none of them after a long life. */
export const restartDelayMs = (deaths: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** (deaths - 1), LONGEST_DELAY_MS);

/** Starts a program, and again whenever it ends by itself. */
export const supervise = (
  { name, launch }: Program,
  { warn, changed, delayMs = restartDelayMs }: SupervisorOptions,
): Supervised => {
  const { ask, insist } = signalsOf(name);
  let child: ChildProcess | null = null;
  let stopping = false;
  let deaths = 0;
  let restart: NodeJS.Timeout | undefined;

  const start = async (): Promise<void> => {
    let starting = true;
    try {
      await launch((next) => {
        child = next;
        const bornAt = Date.now();
        next.once('exit', (code, signal) => {
          child = null;
          changed(null);
          if (Date.now() - bornAt > STABLE_AFTER_MS) deaths = 0;
          if (!starting) startAgain(signal ? `was ended by ${signal}` : `ended with code ${code}`);
        });
        changed(next.pid ?? null);
        if (stopping) next.kill(ask);
      });
    } finally {
      starting = false;
    }
    if (!child) startAgain('ended while it started');
  };

  const startAgain = (reason: string): void => {
    if (stopping) return;
    deaths += 1;
    const delay = delayMs(deaths);
    warn(`${name} ${reason}; it starts again in ${delay} ms`);
    restart = setTimeout(() => {
      current = start().catch((error: Error) => {
        if (child) warn(`${name} is slow: ${error.message}`);
        else startAgain(`could not start: ${error.message}`);
      });
    }, delay);
  };

  const gone = async (): Promise<void> => {
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
    deaths: () => deaths,
    stop: async (withinMs) => {
      stopping = true;
      clearTimeout(restart);
      child?.kill(ask);
      const late = setTimeout(() => {
        warn(`${name} did not stop in time and is ended`);
        child?.kill(insist);
      }, withinMs);
      await gone();
      clearTimeout(late);
    },
    kill: () => {
      stopping = true;
      clearTimeout(restart);
      child?.kill(insist);
    },
  };
};
