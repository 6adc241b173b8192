import { AppError } from '@cpg/contracts';
import { ConfigError } from '../config/config.ts';
import { createLogger, type Logger, type LoggerOptions } from '../log/logger.ts';
import { withTimeout } from './retry.ts';

/** The outages of everything that a service depends on. Each outage is two log lines: `outage began` with the reason,
 *  and `outage ended` with its time in ms and the number of refused requests. */
export interface Outages {
  /** Adds a dependency. Returns its readiness check. */
  readonly watch: (name: string, dependency: Dependency) => () => Promise<void>;
  /** Reports an error. Returns false if it is no outage: then the caller logs it. */
  readonly failed: (error: unknown) => boolean;
  /** Reports that a request was refused because of an error. Returns false if it is no outage. */
  readonly refused: (error: unknown) => boolean;
  /** Waits between two attempts. Ends early when any dependency is back. Rejects when `signal` aborts. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The names of the dependencies that are unavailable. */
  readonly ongoing: () => string[];
  readonly totals: () => Record<string, OutageTotals>;
  readonly stop: () => void;
}

export const createOutages = (log: Logger): Outages => {
  const trackers = new Map<string, OutageTracker>();
  const owners: { name: string; owns: (error: unknown) => boolean }[] = [];
  const waiting = new Set<() => void>();
  const endWaits = () => {
    for (const end of waiting) end();
  };
  const track = (name: string, dependency: Dependency): OutageTracker => {
    const tracker = trackOutages(name, dependency, { log, onBack: endWaits });
    trackers.set(name, tracker);
    return tracker;
  };
  const trackerOf = (error: unknown): OutageTracker | undefined => {
    for (let inner = error; inner; inner = inner instanceof AppError ? inner.cause : undefined) {
      const name =
        (inner instanceof AppError ? inner.dependency : undefined) ?? owners.find(({ owns }) => owns(inner))?.name;
      if (name !== undefined) return trackers.get(name) ?? track(name, {});
    }
    return undefined;
  };
  return {
    watch: (name, dependency) => {
      if (dependency.owns) owners.push({ name, owns: dependency.owns });
      return track(name, dependency).check;
    },
    failed: (error) => {
      const tracker = trackerOf(error);
      tracker?.failed(error);
      return tracker !== undefined;
    },
    refused: (error) => {
      const tracker = trackerOf(error);
      tracker?.refused(error);
      return tracker !== undefined;
    },
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          signal?.removeEventListener('abort', end);
          if (signal?.aborted) reject(signal.reason as Error);
          else resolve();
        };
        const timer = setTimeout(end, ms);
        if (signal?.aborted) return end();
        waiting.add(end);
        signal?.addEventListener('abort', end);
      }),
    ongoing: () => [...trackers].filter(([, tracker]) => tracker.isOngoing()).map(([name]) => name),
    totals: () => Object.fromEntries([...trackers].map(([name, tracker]) => [name, tracker.totals()])),
    stop: () => {
      for (const tracker of trackers.values()) tracker.stop();
    },
  };
};

/** The log of a service, and the outages that it reports there. */
export const createServiceLog = (options: Omit<LoggerOptions, 'reportOutage'>): { log: Logger; outages: Outages } => {
  const log = createLogger({ ...options, reportOutage: (error) => outages.failed(error) });
  const outages = createOutages(log);
  return { log, outages };
};

export interface Dependency {
  /** Whether an error of a client means that this dependency is unavailable. An AppError names its dependency
   *  itself. */
  readonly owns?: (error: unknown) => boolean;
  /** Rejects while the dependency is unavailable. Runs only during an outage. Without it, an outage ends ten seconds
   *  after its last failure. */
  readonly check?: () => Promise<unknown>;
}

export interface OutageTotals {
  readonly isOngoing: boolean;
  readonly outages: number;
  readonly refused: number;
}

interface Outage {
  readonly beganAt: number;
  failedAt: number;
  /** Since when it has been available without a failure. */
  backAt: number | null;
  /** The last write that found no room on the disk. */
  diskFullAt: number;
  refused: number;
  /** The messages that were logged about wrong settings. */
  readonly misconfigurations: Set<string>;
}

const CHECK_TIMEOUT_MS = 2_000;
const FIRST_CHECK_MS = 100;
const MAX_CHECK_MS = 500;
/** Shorter gaps between failures belong to the same outage: requests that waited for an answer fail late. */
const SETTLED_AFTER_MS = 2_000;
const UNCHECKED_QUIET_MS = 10_000;
/** Reads succeed on a full disk, so only the time since the last failed write tells. */
const DISK_FULL_HOLD_MS = 5_000;
const DISK_FULL_SETTLED_AFTER_MS = 15_000;

/** Follows the outages of one dependency: logs the begin and the end of each, and checks in between whether it is
 *  back. */
const trackOutages = (
  name: string,
  { check }: Dependency,
  { log, onBack, random = Math.random }: { log: Logger; onBack: () => void; random?: () => number },
) => {
  let outage: Outage | null = null;
  let totals = { outages: 0, refused: 0 };
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const end = ({ beganAt, backAt, refused }: Outage) => {
    outage = null;
    clearTimeout(timer);
    log.warn({ dependency: name, outageMs: Math.round(backAt! - beganAt), refused }, 'outage ended');
  };
  /** Rejects while the dependency is unavailable. */
  const probe = async (): Promise<void> => {
    const failedBefore = outage?.failedAt;
    try {
      await (check && withTimeout(CHECK_TIMEOUT_MS, check()));
    } catch (error) {
      failed(error);
      throw error;
    }
    if (!outage || outage.failedAt !== failedBefore) return;
    const now = performance.now();
    if (now - outage.diskFullAt < DISK_FULL_HOLD_MS) throw new Error('a write found the disk full');
    if (!check && now - outage.failedAt < UNCHECKED_QUIET_MS) return;
    if (outage.backAt === null) {
      outage.backAt = check ? now : outage.failedAt;
      onBack();
    }
    if (now - outage.backAt >= settledAfterMsOf(outage)) end(outage);
  };
  const probeUntilEnd = (attempt: number) => {
    if (!outage || isStopped) return;
    const waitMs = Math.min(MAX_CHECK_MS, FIRST_CHECK_MS * 2 ** Math.min(attempt, 10));
    const next = () =>
      void probe()
        .catch(() => {})
        .then(() => probeUntilEnd(attempt + 1));
    timer = setTimeout(next, waitMs * (0.5 + random() / 2));
    timer.unref();
  };
  const failed = (error: unknown): void => {
    const now = performance.now();
    if (!outage) {
      outage = beginOutage(now);
      totals = { ...totals, outages: totals.outages + 1 };
      log.warn({ dependency: name, reason: reasonOf(error) }, 'outage began');
      probeUntilEnd(0);
    }
    const misconfiguration = misconfigurationOf(error);
    if (misconfiguration !== null && !outage.misconfigurations.has(misconfiguration)) {
      outage.misconfigurations.add(misconfiguration);
      log.error({ dependency: name, reason: misconfiguration }, 'dependency is misconfigured');
    }
    outage.failedAt = now;
    outage.backAt = null;
    if (isDiskFull(error)) outage.diskFullAt = now;
  };
  return {
    failed,
    /** Counts a request that was refused because of `error`. */
    refused: (error: unknown): void => {
      failed(error);
      outage!.refused += 1;
      totals = { ...totals, refused: totals.refused + 1 };
    },
    /** Readiness check. */
    check: probe,
    isOngoing: (): boolean => outage !== null,
    totals: (): OutageTotals => ({ ...totals, isOngoing: outage !== null }),
    stop: (): void => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};

type OutageTracker = ReturnType<typeof trackOutages>;

const beginOutage = (now: number): Outage => ({
  beganAt: now,
  failedAt: now,
  backAt: null,
  diskFullAt: -Infinity,
  refused: 0,
  misconfigurations: new Set(),
});

const settledAfterMsOf = ({ diskFullAt }: Outage): number =>
  diskFullAt > -Infinity ? DISK_FULL_SETTLED_AFTER_MS : SETTLED_AFTER_MS;

/** The innermost message: the outer ones only say that the dependency is unavailable. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  // Connecting to several addresses of a name fails with one error for each, and no message of its own.
  return error.message || (error instanceof AggregateError ? reasonOf(error.errors[0]) : error.name);
};

/** How to correct the setting that an error is about; null when it is about none. */
export const misconfigurationOf = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  return error instanceof ConfigError ? error.message : misconfigurationOf(error.cause);
};

// 53100: disk_full of PostgreSQL.
const DISK_FULL_CODES = new Set<unknown>(['53100', 'ENOSPC', 'EDQUOT', 'KAFKA_STORAGE_ERROR']);

const isDiskFull = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { code, type } = error as { code?: unknown; type?: unknown };
  return (
    DISK_FULL_CODES.has(code) ||
    DISK_FULL_CODES.has(type) ||
    /No space left on device|Disk quota exceeded/i.test(error.message) ||
    isDiskFull(error.cause)
  );
};
