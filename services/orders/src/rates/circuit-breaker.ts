/** A circuit breaker. It is closed while calls succeed, and open for a pause after too many failures in a row. After
 *  the pause it is half-open: one call is allowed, which closes it or opens it again. Times are of a monotonic clock. */
export interface CircuitBreaker {
  /** False while it is open. */
  readonly allows: (nowMs: number) => boolean;
  readonly succeeded: () => void;
  readonly failed: (nowMs: number) => void;
}

/** Opens after `after` failures in a row, for `pauseMs`; each further failure doubles the pause, up to `maxPauseMs`. */
export const circuitBreaker = ({ after = 3, pauseMs = 15_000, maxPauseMs = 60_000 } = {}): CircuitBreaker => {
  let failures = 0;
  let openUntilMs = -Infinity;
  return {
    allows: (nowMs) => nowMs >= openUntilMs,
    succeeded: () => {
      failures = 0;
      openUntilMs = -Infinity;
    },
    failed: (nowMs) => {
      failures += 1;
      if (failures >= after) openUntilMs = nowMs + Math.min(maxPauseMs, pauseMs * 2 ** (failures - after));
    },
  };
};
