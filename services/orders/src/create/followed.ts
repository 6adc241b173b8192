import { setTimeout as sleep } from 'node:timers/promises';

/** A value that is read once a second. */
export interface Followed<T> {
  /** What was read last; null before, and once that is older than `maxAgeMs`. */
  readonly current: () => T | null;
  readonly start: () => { stop: () => Promise<void> };
}

const POLL_MS = 1_000;

/** Follows what `read` resolves to. `sentAtMs` is when the read began. `nowMs` is a monotonic clock. */
export const followed = <T>(
  read: (sentAtMs: number) => Promise<T>,
  { maxAgeMs = Infinity, nowMs = () => performance.now() }: { maxAgeMs?: number; nowMs?: () => number } = {},
): Followed<T> => {
  let newest: { readonly value: T; readonly atMs: number } | null = null;
  return {
    current: () => (newest && nowMs() - newest.atMs <= maxAgeMs ? newest.value : null),
    start: () => {
      const stopping = new AbortController();
      const { signal } = stopping;
      const running = (async () => {
        while (!signal.aborted) {
          const atMs = nowMs();
          // An outage is reported elsewhere, and the last value becomes too old.
          const value = await read(atMs).catch(() => null);
          if (value !== null) newest = { value, atMs };
          await sleep(POLL_MS, undefined, { signal }).catch(() => {});
        }
      })();
      return {
        stop: () => {
          stopping.abort();
          return running;
        },
      };
    },
  };
};
