import type { LogPosition } from './recorded.ts';

/** A flush runs after `idleMs` without events, and at most `maxDelayMs` after the first event that it completes. */
export interface FlushTiming {
  readonly idleMs: number;
  readonly maxDelayMs: number;
}

export interface Flush extends FlushTiming {
  /** Completes all events handled up to `position`. */
  readonly run: (position: LogPosition) => Promise<void>;
}

/** Decides when handled events are flushed. Without `flush` it does nothing. */
export const flushTimer = (flush: Flush | undefined) => {
  let pending = null as { position: LogPosition; firstAt: number; dueAt: number } | null;
  return {
    schedule: (position: LogPosition): void => {
      if (!flush) return;
      const now = performance.now();
      const firstAt = pending?.firstAt ?? now;
      pending = { position, firstAt, dueAt: Math.min(firstAt + flush.maxDelayMs, now + flush.idleMs) };
    },
    isDue: (): boolean => pending !== null && performance.now() >= pending.dueAt,
    /** Undefined while there is nothing to flush. */
    msUntilDue: (): number | undefined => (pending ? pending.dueAt - performance.now() : undefined),
    run: async (): Promise<void> => {
      if (!pending) return;
      const { position } = pending;
      pending = null;
      await flush!.run(position);
    },
  };
};
