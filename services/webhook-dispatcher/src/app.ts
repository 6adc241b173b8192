import { isTransientDatabaseError } from '@cpg/platform/postgres';
import {
  type CallerTokens,
  createApp,
  healthRoutes,
  INTERNAL_BODY_LIMIT_BYTES,
  type Logger,
  metricsRoute,
  type Outages,
  type ReadinessChecks,
  requireCaller,
  type ServedMetrics,
  type StartGate,
  waitForStartGate,
} from '@cpg/platform';
import { type WebhookRoutes, webhookRoutes } from './routes.ts';

export interface AppOptions {
  readonly tokens: CallerTokens;
  readonly gate: Pick<StartGate, 'waitUntilOpen'>;
  readonly checks: ReadinessChecks;
  /** Facts for `/health/ready` that decide nothing. */
  readonly details?: () => Promise<object>;
  readonly outages?: Outages;
  readonly metrics: ServedMetrics;
  readonly log: Logger;
  /** Dependencies of the routes. */
  readonly routes: WebhookRoutes;
}

/** The internal HTTP API of the dispatcher. All routes but health need a token. */
export const buildApp = ({ tokens, gate, checks, details, outages, metrics, log, routes }: AppOptions) => {
  const app = createApp({
    log,
    outages,
    isTransientError: isTransientDatabaseError,
    bodyLimit: INTERNAL_BODY_LIMIT_BYTES,
  });
  healthRoutes(app, checks, { details });
  metricsRoute(app, metrics);
  app.register(async (internal) => {
    requireCaller(internal, tokens);
    waitForStartGate(internal, gate);
    await internal.register(webhookRoutes, routes);
  });
  return app;
};
