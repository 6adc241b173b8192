import { INTERNAL_HEADERS } from '@cpg/contracts';
import { isTransientDatabaseError } from '@cpg/platform/postgres';
import {
  type CallerTokens,
  createApp,
  createConcurrencyLimit,
  healthRoutes,
  INTERNAL_BODY_LIMIT_BYTES,
  type Logger,
  metricsRoute,
  type Outages,
  type ReadinessChecks,
  refuseOverload,
  requireCaller,
  type ServedMetrics,
  type StartGate,
  waitForStartGate,
} from '@cpg/platform';
import { type OrderRoutes, orderRoutes } from './routes.ts';

/** The internal HTTP server of orders. Every route except the health checks requires a token. */
export const buildApp = ({
  tokens,
  gate,
  checks,
  details,
  outages,
  metrics,
  ...routes
}: OrderRoutes & {
  tokens: CallerTokens;
  gate: Pick<StartGate, 'waitUntilOpen'>;
  checks: ReadinessChecks;
  /** Facts for `/health/ready` that decide nothing. */
  details?: () => Promise<object>;
  outages?: Outages;
  metrics?: ServedMetrics;
  log: Logger;
}) => {
  const app = createApp({
    log: routes.log,
    outages,
    isTransientError: isTransientDatabaseError,
    bodyLimit: INTERNAL_BODY_LIMIT_BYTES,
  });
  // Reports of payments and reads are never refused.
  refuseOverload(app, {
    limits: { create: createConcurrencyLimit() },
    ownerOf: ({ headers }) => String(headers[INTERNAL_HEADERS.actor]),
    log: routes.log,
    metrics: metrics?.registry,
  });
  healthRoutes(app, checks, { details });
  if (metrics) metricsRoute(app, metrics);
  void app.register(async (internal) => {
    requireCaller(internal, tokens);
    waitForStartGate(internal, gate);
    await internal.register(orderRoutes, routes);
  });
  return app;
};
