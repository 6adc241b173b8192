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
import type { DepositSettingsOf } from './accounts/deposit-settings.ts';
import { depositSettingsRoutes } from './accounts/routes.ts';
import { type PageRoutes, pageRoutes } from './pages/routes.ts';
import { type ProviderRoutes, providerRoutes } from './providers/routes.ts';
import { type PaymentRoutes, paymentRoutes, simulatedPaymentRoutes } from './routes.ts';

/** The internal HTTP API of payments. Every route except health requires a token. */
export const buildApp = ({
  tokens,
  gate,
  checks,
  details,
  outages,
  metrics,
  log,
  depositSettings,
  sandbox,
  ...routes
}: PaymentRoutes &
  ProviderRoutes &
  PageRoutes & {
    depositSettings: DepositSettingsOf;
    /** Whether payments may be invented. */
    sandbox: boolean;
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
    metrics: metrics?.registry,
  });
  healthRoutes(app, checks, { details });
  if (metrics) metricsRoute(app, metrics);
  void app.register(async (internal) => {
    requireCaller(internal, tokens);
    waitForStartGate(internal, gate);
    await internal.register(paymentRoutes, routes);
    if (sandbox) await internal.register(simulatedPaymentRoutes, routes);
    await internal.register(depositSettingsRoutes, { depositSettings });
    await internal.register(providerRoutes, routes);
    await internal.register(pageRoutes, routes);
  });
  return app;
};
