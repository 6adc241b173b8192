/** A circuit breaker. It is closed while calls succeed, and open for a pause after too many failures in a row. After
 *  the pause it is half-open: one call is allowed, which closes it or opens it again. */
export interface CircuitBreaker {
  /** False while it is open. */
  readonly allows: (now: Date) => boolean;
  readonly succeeded: () => void;
  readonly failed: (now: Date) => void;
}

/** Opens after `after` failures in a row, for `pauseMs`; each further failure doubles the pause, up to `maxPauseMs`. */
export const circuitBreaker = ({ after = 3, pauseMs = 30_000, maxPauseMs = 600_000 } = {}): CircuitBreaker => {
  let failures = 0;
  let openUntil = 0;
  return {
    allows: (now) => now.getTime() >= openUntil,
    succeeded: () => {
      failures = 0;
      openUntil = 0;
    },
    failed: (now) => {
      failures += 1;
      if (failures >= after) openUntil = now.getTime() + Math.min(maxPauseMs, pauseMs * 2 ** (failures - after));
    },
  };
};
