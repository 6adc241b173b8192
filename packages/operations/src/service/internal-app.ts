import { INTERNAL_HEADERS } from '@cpg/contracts';
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
import { isTransientDatabaseError } from '@cpg/platform/postgres';

export interface InternalAppOptions {
  readonly tokens: CallerTokens;
  readonly gate: Pick<StartGate, 'waitUntilOpen'>;
  readonly checks: ReadinessChecks;
  /** Facts for `/health/ready` that decide nothing. */
  readonly details?: () => Promise<object>;
  readonly outages?: Outages;
  readonly metrics?: ServedMetrics;
  readonly log: Logger;
}

type App = ReturnType<typeof createApp>;

/** The HTTP server of an event-sourced service, for the other services. `routes` need a token and wait until the service
 *  knows its event store; health checks and metrics do not. Only routes with `load: 'create'` are refused under load:
 *  reports and reads never are. */
export const internalApp = (
  { tokens, gate, checks, details, outages, metrics, log }: InternalAppOptions,
  routes: (app: App) => Promise<void>,
): App => {
  const app = createApp({
    log,
    outages,
    isTransientError: isTransientDatabaseError,
    bodyLimit: INTERNAL_BODY_LIMIT_BYTES,
  });
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
    await routes(internal);
  });
  return app;
};
