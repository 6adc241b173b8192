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
import type { DepositSettingsOf } from './accounts/deposit-settings.ts';
import { depositSettingsRoutes } from './accounts/routes.ts';
import { type PageRoutes, pageRoutes } from './pages/routes.ts';
import { type ProviderRoutes, providerRoutes } from './providers/routes.ts';
import { type PaymentRoutes, paymentRoutes } from './routes.ts';

/** The internal HTTP API of payments. Every route except health requires the internal token. */
export const buildApp = ({
  token,
  gate,
  checks,
  details,
  outages,
  metrics,
  log,
  depositSettings,
  ...routes
}: PaymentRoutes &
  ProviderRoutes &
  PageRoutes & {
    depositSettings: DepositSettingsOf;
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
    log,
    outages,
    isTransientError: isTransientDatabaseError,
    bodyLimit: INTERNAL_BODY_LIMIT_BYTES,
  });
  // Instructions serve creates alone. Reports of payments are never refused.
  refuseOverload(app, {
    limits: { create: createConcurrencyLimit() },
    ownerOf: ({ headers }) => String(headers[INTERNAL_HEADERS.actor]),
    log,
    metrics,
  });
  healthRoutes(app, checks, { details });
  if (metrics) metricsRoute(app, metrics);
  void app.register(async (internal) => {
    requireInternalToken(internal, token);
    waitForStartGate(internal, gate);
    await internal.register(paymentRoutes, routes);
    await internal.register(depositSettingsRoutes, { depositSettings });
    await internal.register(providerRoutes, routes);
    await internal.register(pageRoutes, routes);
  });
  return app;
};
