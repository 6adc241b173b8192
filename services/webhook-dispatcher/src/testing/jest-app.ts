import { createOutages, createServiceMetrics } from '@cpg/platform';
import { buildApp } from '../app.ts';
import type { Result } from '../delivery/delivery.ts';
import { createMetrics } from '../metrics.ts';
import type { Dispatchers } from './jest-dispatchers.ts';
import { log } from './jest-log.ts';

export const authorization = 'Bearer a token';

/** The internal HTTP API of an instance. Its readiness check of Kafka always fails. With `withoutHistory`, it cannot
 *  read past events, so it refuses replays. */
export const openApp = async (system: Dispatchers, { isSandbox = true, withoutHistory = false } = {}) => {
  const recorded: Result[] = [];
  const { instance, webhooks, consume } = await system.start({
    // Seconds before the second and last attempt of a delivery.
    schedule: [3_600],
    ...(withoutHistory && { history: undefined }),
    onRecorded: (results) => recorded.push(...results),
  });
  const now = () => new Date();
  const registry = createServiceMetrics(createOutages(log));
  const metrics = createMetrics({
    registry,
    db: system.pool,
    counts: instance.counts,
    endpoints: instance.endpoints,
    now,
  });
  const { ingest, startReplay, eventsUntil } = instance;
  const app = buildApp({
    // Requests wait here until a service has checked its data: in tests they never wait.
    gate: { waitUntilOpen: async () => {} },
    tokens: { gateway: ['a token'] },
    log,
    checks: { postgres: () => system.pool.query('select 1'), kafka: () => Promise.reject(new Error('not joined')) },
    metrics: { registry, tokens: ['of Prometheus'] },
    routes: { pool: system.pool, webhooks, ingest, startReplay, eventsUntil, isSandbox, now },
  });
  return { app, instance, metrics, recorded, consume };
};
