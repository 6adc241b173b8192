export interface Breaker {
  /** Whether a try is due: always while closed, and once per pause after too many failures in a row. */
  readonly allows: (now: Date) => boolean;
  readonly succeeded: () => void;
  readonly failed: (now: Date) => void;
}

/** Leaves a source alone for a while that failed `after` times in a row: `pauseMs`, doubled with each further failure up to `maxPauseMs`. */
export const breaker = ({ after = 3, pauseMs = 30_000, maxPauseMs = 600_000 } = {}): Breaker => {
  let failures = 0;
  let closedUntil = 0;
  return {
    allows: (now) => now.getTime() >= closedUntil,
    succeeded: () => {
      failures = 0;
      closedUntil = 0;
    },
    failed: (now) => {
      failures += 1;
      if (failures >= after) closedUntil = now.getTime() + Math.min(maxPauseMs, pauseMs * 2 ** (failures - after));
    },
  };
};
