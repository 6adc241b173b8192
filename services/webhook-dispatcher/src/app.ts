import { isTransientDatabaseError } from '@cpg/postgres';
import {
  createApp,
  healthRoutes,
  INTERNAL_BODY_LIMIT_BYTES,
  type Logger,
  type Outages,
  type ReadinessChecks,
  waitForStartGate,
  requireInternalToken,
  type StartGate,
} from '@cpg/runtime';
import type { Metrics } from './metrics.ts';
import { type WebhookRoutes, webhookRoutes } from './routes.ts';

export interface AppOptions {
  readonly token: string | readonly string[];
  readonly gate: Pick<StartGate, 'waitUntilOpen'>;
  readonly checks: ReadinessChecks;
  /** Facts for `/health/ready` that decide nothing. */
  readonly details?: () => Promise<object>;
  readonly outages?: Outages;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Dependencies of the routes. */
  readonly routes: WebhookRoutes;
}

/** The internal HTTP API of the dispatcher. All routes but health and metrics need the internal token. */
export const buildApp = ({ token, gate, checks, details, outages, metrics, log, routes }: AppOptions) => {
  const app = createApp({
    log,
    outages,
    isTransientError: isTransientDatabaseError,
    bodyLimit: INTERNAL_BODY_LIMIT_BYTES,
  });
  healthRoutes(app, checks, { details });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  app.register(async (internal) => {
    requireInternalToken(internal, token);
    waitForStartGate(internal, gate);
    await internal.register(webhookRoutes, routes);
  });
  return app;
};
