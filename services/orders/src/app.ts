import { isTransientDatabaseError } from '@cpg/postgres';
import {
  createApp,
  healthRoutes,
  INTERNAL_BODY_LIMIT_BYTES,
  type Logger,
  type ReadinessChecks,
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
  ...routes
}: OrderRoutes & {
  token: string | readonly string[];
  gate: Pick<StartGate, 'waitUntilOpen'>;
  checks: ReadinessChecks;
  log: Logger;
}) => {
  const app = createApp({
    log: routes.log,
    isTransientError: isTransientDatabaseError,
    bodyLimit: INTERNAL_BODY_LIMIT_BYTES,
  });
  healthRoutes(app, checks);
  void app.register(async (internal) => {
    requireInternalToken(internal, token);
    waitForStartGate(internal, gate);
    await internal.register(orderRoutes, routes);
  });
  return app;
};
