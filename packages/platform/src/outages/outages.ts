import { AppError } from '@cpg/contracts';
import type { Logger } from '../log/logger.ts';
import { type Dependency, type OutageTotals, type OutageTracker, trackOutages } from './outage.ts';

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
