import { INTERNAL_HEADERS } from '@cpg/contracts';
import { isTransientDatabaseError } from '@cpg/postgres';
import {
  createApp,
  createConcurrencyLimit,
  healthRoutes,
  INTERNAL_BODY_LIMIT_BYTES,
  type Logger,
  metricsRoute,
  type MetricsRegistry,
  type Outages,
  type ReadinessChecks,
  refuseOverload,
  waitForStartGate,
  requireInternalToken,
  type StartGate,
} from '@cpg/runtime';
import { type OrderRoutes, orderRoutes } from './routes.ts';

/** The internal HTTP server of orders. Every route except the health checks requires the internal token. */
export const buildApp = ({
  token,
  gate,
  checks,
  details,
  outages,
  metrics,
  ...routes
}: OrderRoutes & {
  token: string | readonly string[];
  gate: Pick<StartGate, 'waitUntilOpen'>;
  checks: ReadinessChecks;
  /** Facts for `/health/ready` that decide nothing. */
  details?: () => Promise<object>;
  outages?: Outages;
  metrics?: MetricsRegistry;
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
    metrics,
  });
  healthRoutes(app, checks, { details });
  if (metrics) metricsRoute(app, metrics);
  void app.register(async (internal) => {
    requireInternalToken(internal, token);
    waitForStartGate(internal, gate);
    await internal.register(orderRoutes, routes);
  });
  return app;
};
