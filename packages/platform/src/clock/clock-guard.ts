import { uptime } from 'node:os';
import { ConfigError } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';
import { computedMetric, type MetricsRegistry } from '../metrics.ts';
import { withTimeout } from '../outages/retry.ts';
import {
  aheadMs,
  type Bounds,
  type ClockName,
  type ClockState,
  type Confirmation,
  judge,
  type Moment,
  unknownClock,
} from './verdict.ts';

/** Milliseconds since the machine started. Nobody sets this clock, and it also runs while the machine sleeps. */
export const steadyNowMs = (): number => uptime() * 1_000;

/** Both clocks of this process. */
export interface OwnClocks {
  readonly now: () => Date;
  readonly steadyMs: () => number;
}

/** A clock to compare with. */
export interface OtherClock {
  readonly name: ClockName;
  /** Its offset to the steady clock; null when nothing new is known. */
  readonly read: (own: OwnClocks) => Promise<Bounds | null>;
  /** Whether `read` can be expected to tell something. Default: yes. */
  readonly isExpected?: () => boolean;
}

export interface ClockGuardOptions {
  readonly now: () => Date;
  readonly steadyMs?: () => number;
  readonly clocks: readonly OtherClock[];
  /** The last statement of an operator. */
  readonly readConfirmation?: ((own: OwnClocks) => Promise<Confirmation | null>) | undefined;
  readonly metrics?: MetricsRegistry | undefined;
  readonly log: Logger;
}

/** Guards what cannot be undone against a wrong clock. */
export interface ClockGuard {
  /** The time by which something may end, be dropped or expire. 1970 while the clock is not trusted: then nothing has
   *  ended yet. */
  readonly endsBy: () => Date;
  readonly isPaused: () => boolean;
  /** For `/health/ready`. */
  readonly details: () => { readonly clock: object };
  /** Compares the clocks once. Runs on a timer; tests call it too. */
  readonly compare: () => Promise<void>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const COMPARE_EVERY_MS = 10_000;
const COMPARE_EVERY_PAUSED_MS = 2_000;
const READ_TIMEOUT_MS = 5_000;
const NEVER = new Date(0);

export const createClockGuard = (options: ClockGuardOptions): ClockGuard => {
  const { now, steadyMs = steadyNowMs, clocks, readConfirmation, log } = options;
  const own: OwnClocks = { now, steadyMs };
  const momentOf = (at: Date): Moment => {
    const atMs = steadyMs();
    return { offsetMs: at.getTime() - atMs, atMs };
  };
  let state: ClockState = unknownClock(momentOf(now()));
  let doubt: string | null = 'the clock of this process was not compared with that of PostgreSQL yet';
  let comparedAtMs = -Infinity;
  const report = changeLogger(log);
  const unread = missingClockLogger(log);

  const look = (at: Date): void => {
    const verdict = judge(state, momentOf(at));
    report(verdict, { at, wasPaused: doubt !== null, steadyMs: steadyMs() });
    // After a step, nobody knows the other clocks.
    if (verdict.state.since.atMs !== state.since.atMs) comparedAtMs = -Infinity;
    state = verdict.state;
    doubt = verdict.doubt;
  };
  const read = async ({ name, read: readClock }: OtherClock): Promise<void> => {
    const atMs = steadyMs();
    const bounds = await withTimeout(READ_TIMEOUT_MS, readClock(own)).catch(unread);
    if (bounds) state = { ...state, readings: new Map([...state.readings, [name, { ...bounds, atMs }]]) };
  };
  const compare = async (): Promise<void> => {
    look(now());
    await Promise.all(clocks.map(read));
    const confirmation = await readConfirmation?.(own).catch(unread);
    const expectsChains = clocks.some(({ name, isExpected = () => true }) => name === 'chains' && isExpected());
    state = { ...state, expectsChains, confirmation: confirmation ?? state.confirmation };
    look(now());
  };

  let timer: NodeJS.Timeout | undefined;
  let comparing: Promise<void> | null = null;
  const tick = (): void => {
    look(now());
    const everyMs = doubt === null ? COMPARE_EVERY_MS : COMPARE_EVERY_PAUSED_MS;
    if (comparing || steadyMs() - comparedAtMs < everyMs) return;
    comparedAtMs = steadyMs();
    comparing = compare().finally(() => (comparing = null));
  };
  const guard: ClockGuard = {
    endsBy: () => {
      const at = now();
      look(at);
      return doubt === null ? at : NEVER;
    },
    isPaused: () => {
      look(now());
      return doubt !== null;
    },
    details: () => ({
      clock: { ...(doubt !== null && { paused: doubt }), skew_seconds: skews(state, now(), steadyMs()) },
    }),
    compare,
    start: () => {
      tick();
      timer = setInterval(tick, LOOK_EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      clearInterval(timer);
      await comparing;
    },
  };
  if (options.metrics) addMetrics(options.metrics, guard.isPaused, () => skews(state, now(), steadyMs()));
  return guard;
};

/** How many seconds each other clock is ahead of ours. */
const skews = ({ readings }: ClockState, at: Date, steadyMs: number): Record<string, number> =>
  Object.fromEntries(
    [...readings].map(([name, reading]) => [name, Math.round(aheadMs(reading, at.getTime() - steadyMs)) / 1_000]),
  );

/** Logs when the clock stops being trusted, and when it is trusted again. */
const changeLogger = (log: Logger) => {
  let hasWarned = false;
  return (
    { state, doubt }: ReturnType<typeof judge>,
    { at, wasPaused, steadyMs }: { readonly at: Date; readonly wasPaused: boolean; readonly steadyMs: number },
  ): void => {
    const { trusted, readings } = state;
    const times = () => ({
      clock: at.toISOString(),
      ...(trusted && { expected: new Date(trusted.offsetMs + steadyMs).toISOString() }),
      skew_seconds: skews(state, at, steadyMs),
    });
    // A process that starts has compared nothing yet: that is no fault.
    if (doubt !== null && (!wasPaused || !hasWarned) && (trusted || readings.size > 0)) {
      log.error(
        { reason: doubt, ...times() },
        'the clock is not trusted, and nothing ends by it: correct it, or confirm it with clock confirm',
      );
      hasWarned = true;
    }
    if (doubt === null && hasWarned) {
      log.warn(times(), 'the clock is trusted again');
      hasWarned = false;
    }
  };
};

/** Logs once what the operator has to correct. An outage is logged by others. */
const missingClockLogger = (log: Logger) => {
  const corrections = new Set<string>();
  return (error: unknown): null => {
    if (error instanceof ConfigError && !corrections.has(error.message))
      log.error({ err: error }, 'a clock is missing');
    if (error instanceof ConfigError) corrections.add(error.message);
    return null;
  };
};

const addMetrics = (
  registry: MetricsRegistry,
  isPaused: () => boolean,
  skewSeconds: () => Record<string, number>,
): void => {
  computedMetric(registry, {
    name: 'clock_skew_seconds',
    help: 'How far another clock is ahead of that of this process',
    labels: ['clock'],
    values: () => Object.entries(skewSeconds()).map(([clock, seconds]) => [{ clock }, seconds] as const),
  });
  computedMetric(registry, {
    name: 'clock_paused',
    help: '1 while the clock of this process is not trusted, so that nothing ends by it',
    labels: [],
    values: () => [[{}, isPaused() ? 1 : 0]],
  });
};
