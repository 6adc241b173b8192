import { isTransientDatabaseError, type Queryable } from '@cpg/platform/postgres';
import { counterMetric } from '@cpg/platform';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Result } from './delivery/delivery.ts';
import { ENDPOINT_STATES, type EndpointReport } from './attempts/endpoint.ts';
import { countDue } from './queue/queue-table.ts';

const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const FIRST_ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 300];
/** Counting due deliveries reads their whole index, so the count is cached this long. */
const COUNT_EVERY_MS = 10_000;
/** Shown as NaN, which raises no alarm. */
const UNKNOWN = { due: NaN, oldestDueAt: new Date(NaN) };

/** How many open endpoints get a series of their own, so that an outage of many does not overload Prometheus. */
const MAX_OPEN_SERIES = 100;

export interface MetricsOptions {
  readonly registry: Registry;
  readonly db: Queryable;
  readonly counts: () => { leased: number; inFlight: number; unrecorded: number };
  readonly endpoints: () => readonly EndpointReport[];
  readonly now: () => Date;
}

/** The Prometheus metrics of this instance. */
export const createMetrics = ({ registry, db, counts, endpoints, now }: MetricsOptions) => {
  addQueueMetrics(registry, db, now);
  addInstanceMetrics(registry, counts);
  addEndpointMetrics(registry, endpoints);
  return { observe: addAttemptMetrics(registry) };
};

export type Metrics = ReturnType<typeof createMetrics>;

/** Returns a function that counts recorded results. */
const addAttemptMetrics = (registry: Registry) => {
  const registers = [registry];
  const countAttempt = counterMetric(registry, {
    name: 'webhook_attempts_total',
    help: 'Recorded attempts by outcome',
    labelNames: ['outcome'],
  });
  const countEnded = counterMetric(registry, {
    name: 'webhook_deliveries_ended_total',
    help: 'Deliveries that are delivered or have failed for good',
    labelNames: ['status'],
    known: [{ status: 'delivered' }, { status: 'failed' }],
  });
  const seconds = new Histogram({
    name: 'webhook_attempt_seconds',
    help: 'Duration of attempts',
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const firstAttempt = new Histogram({
    name: 'webhook_first_attempt_delay_seconds',
    help: 'Time from the event to the start of its first attempt',
    buckets: FIRST_ATTEMPT_BUCKETS,
    registers,
  });
  return (results: readonly Result[]): void => {
    for (const { attempt, delivery, status } of results) {
      if (status !== 'pending') countEnded({ status });
      if (!attempt) continue;
      countAttempt({ outcome: attempt.outcome });
      seconds.observe(attempt.durationMs / 1_000);
      if (delivery.attempts === 0 && delivery.attemptsBefore === null)
        firstAttempt.observe(Math.max(0, (attempt.startedAt.getTime() - delivery.event.occurredMs) / 1_000));
    }
  };
};

const addQueueMetrics = (registry: Registry, db: Queryable, now: () => Date): void => {
  let cached: ReturnType<typeof countDue>;
  let countedMs = -Infinity;
  const count = () => {
    if (performance.now() - countedMs < COUNT_EVERY_MS) return cached;
    countedMs = performance.now();
    return (cached = countDue(db, now()).catch((error: unknown) => {
      // The other metrics must stay readable during an outage.
      if (isTransientDatabaseError(error)) return UNKNOWN;
      throw error;
    }));
  };
  addGauge(registry, 'webhook_deliveries_due', 'Due, unleased deliveries', async () => (await count()).due);
  addGauge(
    registry,
    'webhook_oldest_due_age_seconds',
    'How long the oldest due, unleased delivery has been due',
    async () => {
      const { oldestDueAt } = await count();
      return oldestDueAt ? Math.max(0, (now().getTime() - oldestDueAt.getTime()) / 1_000) : 0;
    },
  );
};

const addInstanceMetrics = (registry: Registry, counts: MetricsOptions['counts']): void => {
  addGauge(registry, 'webhook_deliveries_leased', 'Deliveries leased to this instance', () => counts().leased);
  addGauge(registry, 'webhook_attempts_in_flight', 'Attempts in flight', () => counts().inFlight);
  addGauge(
    registry,
    'webhook_attempts_unrecorded',
    'Ended attempts whose result is not durable yet',
    () => counts().unrecorded,
  );
};

/** Adds the metrics of endpoint states and open circuit breakers. */
const addEndpointMetrics = (registry: Registry, endpoints: () => readonly EndpointReport[]): void => {
  new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints that this instance has in memory, by state; open and half-open: of the circuit breaker',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      const states = endpoints().map(({ state }) => state);
      for (const state of ENDPOINT_STATES) this.set({ state }, states.filter((other) => other === state).length);
    },
  });
  new Gauge({
    name: 'webhook_endpoint_open_seconds',
    help: `Time until an open circuit breaker lets an attempt through; the ${MAX_OPEN_SERIES} longest`,
    labelNames: ['webhook_id'] as const,
    registers: [registry],
    collect() {
      this.reset();
      const open = endpoints().filter(({ state }) => state === 'open');
      const longest = open.sort((a, b) => b.openForMs - a.openForMs).slice(0, MAX_OPEN_SERIES);
      for (const { webhookId, openForMs } of longest) this.set({ webhook_id: webhookId }, openForMs / 1_000);
    },
  });
};

const addGauge = (registry: Registry, name: string, help: string, value: () => number | Promise<number>) =>
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await value());
    },
  });
