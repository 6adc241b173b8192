export interface CircuitBreakerLimits {
  /** Consecutive failures that open the breaker. */
  readonly failuresToOpen: number;
  /** How long it stays open the first time. Each failed test doubles the time, up to `maxOpenMs`. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

/** Closed: attempts may start. Open: none may start. Half-open: one attempt at a time tests the endpoint. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** The circuit breaker of one endpoint. Consecutive failures open it. When the open time is over it is half-open: a
 *  success closes it, a failure opens it again for longer. Times are milliseconds of the monotonic clock. */
export const createCircuitBreaker = (limits: CircuitBreakerLimits) => {
  let failures = 0;
  let timesOpened = 0;
  let openUntil = 0;
  const isOpen = (now: number) => now < openUntil;
  return {
    state: (now: number): CircuitState => {
      if (isOpen(now)) return 'open';
      return timesOpened > 0 ? 'half-open' : 'closed';
    },
    /** Consecutive failures. */
    failures: () => failures,
    /** In the past unless the breaker is open. */
    openUntil: () => openUntil,
    succeed: () => {
      failures = 0;
      timesOpened = 0;
      openUntil = 0;
    },
    /** Returns whether this failure opened the breaker. */
    fail: (now: number): boolean => {
      failures += 1;
      // Concurrent attempts often fail together: they open the breaker once.
      if (failures < limits.failuresToOpen || isOpen(now)) return false;
      openUntil = now + Math.min(limits.maxOpenMs, limits.openMs * 2 ** timesOpened);
      timesOpened += 1;
      return true;
    },
  };
};
