import { type CircuitBreakerLimits, createCircuitBreaker } from './circuit-breaker.ts';

interface ConcurrencyBounds {
  /** Concurrent attempts to an endpoint that has not answered yet. */
  readonly initial: number;
  /** Concurrent attempts to an endpoint that keeps answering. */
  readonly max: number;
}

/** How much load an endpoint gets. */
export interface EndpointLimits extends CircuitBreakerLimits {
  readonly concurrency: ConcurrencyBounds;
  /** Deliveries kept in memory per concurrent attempt, so that the next attempt starts without a query. */
  readonly bufferedPerAttempt: number;
  /** An attempt that runs longer than this marks its endpoint as slow. */
  readonly slowMs: number;
}

export const ENDPOINT_LIMITS: EndpointLimits = {
  concurrency: { initial: 2, max: 64 },
  bufferedPerAttempt: 16,
  slowMs: 500,
  failuresToOpen: 10,
  openMs: 1_000,
  maxOpenMs: 60_000,
};

/** `healthy`: answers promptly. `slow`: an attempt runs longer than `slowMs`. `failing`: the last attempt failed.
 *  `half-open` and `open`: see the circuit breaker. */
export const ENDPOINT_STATES = ['healthy', 'slow', 'failing', 'half-open', 'open'] as const;
type EndpointState = (typeof ENDPOINT_STATES)[number];

export interface EndpointReport {
  readonly webhookId: string;
  readonly state: EndpointState;
  /** Until the circuit breaker becomes half-open; 0 unless it is open. */
  readonly openForMs: number;
}

/** The health of one webhook's endpoint, and how much load it gets. Times are milliseconds of the monotonic clock.
 *  Attempts are compared by identity. */
export const createEndpoint = (limits: EndpointLimits) => {
  const breaker = createCircuitBreaker(limits);
  const concurrency = createConcurrencyLimit(limits.concurrency);
  // Start times of attempts in flight, oldest first.
  const started = new Map<object, number>();
  let usedAt = 0;

  const isSlow = (now: number) => {
    const [oldest] = started.values();
    return oldest !== undefined && now - oldest > limits.slowMs;
  };
  const isHealthy = (now: number) => breaker.failures() === 0 && !isSlow(now);
  return {
    openUntil: breaker.openUntil,
    inFlight: () => started.size,
    state: (now: number): EndpointState => {
      const circuit = breaker.state(now);
      if (circuit !== 'closed') return circuit;
      if (breaker.failures() > 0) return 'failing';
      return isSlow(now) ? 'slow' : 'healthy';
    },
    /** The endpoint gets memory and slots only while less than this part of them is used by all endpoints. */
    capacityShare: (now: number) => (isHealthy(now) ? 1 : 0.5),
    /** Whether the endpoint has been idle for so long that its state no longer matters. */
    isStale: (now: number) => started.size === 0 && now - Math.max(usedAt, breaker.openUntil()) > limits.maxOpenMs,
    /** How many deliveries for the endpoint may be kept in memory. */
    bufferSize: (now: number): number => {
      const circuit = breaker.state(now);
      if (circuit !== 'closed') return circuit === 'open' ? 0 : 1;
      return isSlow(now) ? limits.concurrency.initial : concurrency.value() * limits.bufferedPerAttempt;
    },
    /** Whether one more attempt may start, of at most `maxConcurrency`. */
    mayStart: (now: number, maxConcurrency = limits.concurrency.max) => {
      const circuit = breaker.state(now);
      if (circuit === 'open') return false;
      return started.size < Math.min(circuit === 'half-open' ? 1 : concurrency.value(), maxConcurrency);
    },
    start: (attempt: object, now: number) => {
      usedAt = now;
      started.set(attempt, now);
    },
    /** Ends an attempt that this instance aborted, which says nothing about the endpoint. */
    abort: (attempt: object) => {
      started.delete(attempt);
    },
    succeed: (attempt: object) => {
      started.delete(attempt);
      breaker.succeed();
      concurrency.succeed();
    },
    /** Returns whether this failure opened the circuit breaker. */
    fail: (attempt: object, now: number): boolean => {
      started.delete(attempt);
      concurrency.fail();
      return breaker.fail(now);
    },
  };
};

/** How many attempts to one endpoint may run concurrently. The limit grows by one per round of successes and halves
 *  with each failure (additive increase, multiplicative decrease). */
const createConcurrencyLimit = ({ initial, max }: ConcurrencyBounds) => {
  let limit = initial;
  return {
    value: () => Math.floor(limit),
    succeed: () => {
      limit = Math.min(max, limit + 1 / limit);
    },
    fail: () => {
      limit = Math.max(1, Math.floor(limit / 2));
    },
  };
};

export type Endpoint = ReturnType<typeof createEndpoint>;
