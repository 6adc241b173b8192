import type { Queryable } from '@cpg/postgres';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Result } from './delivery/delivery.ts';
import { ENDPOINT_STATES, type EndpointReport } from './delivery/endpoint.ts';
import { dueWork } from './storage/queue.ts';

const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** Counting what is due reads the whole index of it: not more often than this. */
const COUNT_EVERY_MS = 10_000;
/** Held endpoints that have a series of their own, those left alone longest: an outage of many must not drown Prometheus. */
const HELD_SHOWN = 100;

export interface MetricsOptions {
  readonly db: Queryable;
  readonly counts: () => { held: number; inFlight: number; unrecorded: number };
  readonly endpoints: () => readonly EndpointReport[];
  readonly now: () => Date;
}

/** What Prometheus reads. */
export const createMetrics = ({ db, counts, endpoints, now }: MetricsOptions) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts recorded, by outcome',
    labelNames: ['outcome'] as const,
    registers,
  });
  const ended = new Counter({
    name: 'webhook_deliveries_ended_total',
    help: 'Deliveries that arrived, and that failed for good',
    labelNames: ['status'] as const,
    registers,
  });
  const seconds = new Histogram({
    name: 'webhook_attempt_seconds',
    help: 'How long attempts took',
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const firstAttempt = new Histogram({
    name: 'webhook_first_attempt_delay_seconds',
    help: 'From the event to the start of its first attempt',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30, 300],
    registers,
  });
  let counted = { due: 0, oldestDueAt: null as Date | null };
  let countedMs = -Infinity;
  const count = async () => {
    if (performance.now() - countedMs < COUNT_EVERY_MS) return counted;
    countedMs = performance.now();
    counted = await dueWork(db, now());
    return counted;
  };
  new Gauge({
    name: 'webhook_deliveries_due',
    help: 'Deliveries that are due and in no instance’s hands',
    registers,
    async collect() {
      this.set((await count()).due);
    },
  });
  new Gauge({
    name: 'webhook_oldest_due_age_seconds',
    help: 'For how long the delivery that waits longest has been due',
    registers,
    async collect() {
      const { oldestDueAt } = await count();
      this.set(oldestDueAt ? Math.max(0, (now().getTime() - oldestDueAt.getTime()) / 1_000) : 0);
    },
  });
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints that this instance remembers, by how they stand',
    labelNames: ['state'] as const,
    registers,
    collect() {
      const states = endpoints().map(({ state }) => state);
      for (const state of ENDPOINT_STATES) this.set({ state }, states.filter((other) => other === state).length);
    },
  });
  new Gauge({
    name: 'webhook_endpoint_held_seconds',
    help: `For how much longer an endpoint is left alone after failures in a row; the ${HELD_SHOWN} longest`,
    labelNames: ['webhook_id'] as const,
    registers,
    collect() {
      this.reset();
      const held = endpoints().filter(({ state }) => state === 'held');
      for (const { webhookId, heldUntilMs } of held.sort((a, b) => b.heldUntilMs - a.heldUntilMs).slice(0, HELD_SHOWN))
        this.set({ webhook_id: webhookId }, (heldUntilMs - now().getTime()) / 1_000);
    },
  });
  gauge('webhook_deliveries_held', 'Deliveries in the hands of this instance', () => counts().held);
  gauge('webhook_attempts_in_flight', 'Attempts under way', () => counts().inFlight);
  gauge('webhook_attempts_unrecorded', 'Attempts that ended and are not durable yet', () => counts().unrecorded);

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    observe: (results: readonly Result[]) => {
      for (const { attempt, delivery, status } of results) {
        if (status !== 'pending') ended.inc({ status });
        if (!attempt) continue;
        attempts.inc({ outcome: attempt.outcome });
        seconds.observe(attempt.durationMs / 1_000);
        if (delivery.attempts === 0 && delivery.attemptsBefore === null)
          firstAttempt.observe(Math.max(0, (attempt.startedAt.getTime() - delivery.event.occurredMs) / 1_000));
      }
    },
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
