import { INTERNAL_HEADERS } from '@cpg/contracts';
import type { ConcurrencyLimit } from '../load/concurrency-limit.ts';
import { refuseOverload } from '../load/refuse-overload.ts';
import { metricsRoute, type ServedMetrics } from '../metrics.ts';
import { type StartGate, waitForStartGate } from '../start/startup.ts';
import { createApp, type CreateAppOptions, INTERNAL_BODY_LIMIT_BYTES } from './app.ts';
import { type CallerTokens, requireCaller } from './callers.ts';
import { healthRoutes, type ReadinessChecks } from './health.ts';

export interface InternalAppOptions extends Pick<CreateAppOptions, 'log' | 'outages' | 'isTransientError'> {
  readonly tokens: CallerTokens;
  readonly gate: Pick<StartGate, 'waitUntilOpen'>;
  readonly checks: ReadinessChecks;
  /** Facts for `/health/ready` that decide nothing. */
  readonly details?: () => Promise<object>;
  readonly metrics?: ServedMetrics;
  /** Limits routes with `load: 'create'`, and no others. Without it no request is refused under load. */
  readonly createLimit?: ConcurrencyLimit;
}

type App = ReturnType<typeof createApp>;

/** The HTTP server of a service, for the other services. `routes` need a token and wait at the gate; health checks and
 *  metrics do not. */
export const internalApp = (
  { tokens, gate, checks, details, metrics, createLimit, log, outages, isTransientError }: InternalAppOptions,
  routes: (app: App) => Promise<void>,
): App => {
  const app = createApp({ log, outages, isTransientError, bodyLimit: INTERNAL_BODY_LIMIT_BYTES });
  if (createLimit)
    refuseOverload(app, {
      limits: { create: createLimit },
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
