import { createOutages, createServiceMetrics } from '@cpg/platform';
import { allowedCallers } from '@cpg/platform/testing';
import { buildApp } from './app.ts';
import type { WebhookRoutes } from './routes.ts';
import { log } from './testing/jest-log.ts';

const TOKENS = { gateway: ['the token of the gateway'] };

type Unused = Pick<WebhookRoutes, 'pool' | 'webhooks' | 'ingest' | 'startReplay' | 'eventsUntil'>;

const appOf = (isSandbox: boolean) =>
  buildApp({
    tokens: TOKENS,
    gate: { waitUntilOpen: async () => {} },
    checks: {},
    metrics: { registry: createServiceMetrics(createOutages(log)), tokens: ['of Prometheus'] },
    log,
    routes: {
      isSandbox,
      now: () => new Date(0),
      ...({ pool: {}, webhooks: {}, ingest: {}, startReplay: {}, eventsUntil: {} } as object as Unused),
    },
  });

const PRODUCTION = {
  'GET /metrics': [],
  'POST /webhooks/:id/deliveries/:delivery_id/redelivery': ['gateway'],
  'POST /webhooks/:id/replays': ['gateway'],
  'POST /webhooks/:id/replays/:replay_id/cancel': ['gateway'],
  'DELETE /webhooks/:id/deliveries': ['gateway'],
};

test('only the gateway is admitted, and the token of metrics opens nothing else', async () => {
  expect(await allowedCallers(appOf(false), { ...TOKENS, admin: ['of Prometheus'] })).toEqual({
    ...PRODUCTION,
    'GET /metrics': ['admin'],
  });
});

test('test deliveries exist in a sandbox alone', async () => {
  expect(await allowedCallers(appOf(true), TOKENS)).toEqual({ 'POST /test-deliveries': ['gateway'], ...PRODUCTION });
});
