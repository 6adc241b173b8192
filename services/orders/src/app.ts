import { isDatabaseOutage } from '@cpg/postgres';
import { createApp, healthRoutes, type Logger, type ReadinessChecks, requireInternalToken } from '@cpg/runtime';
import { type OrderRoutes, orderRoutes } from './routes.ts';

/** The internal HTTP interface of orders. Only health answers without the services' token. */
export const buildApp = ({
  token,
  checks,
  ...routes
}: OrderRoutes & { token: string; checks: ReadinessChecks; log: Logger }) => {
  const app = createApp({ log: routes.log, isOutage: isDatabaseOutage });
  healthRoutes(app, checks);
  void app.register(async (internal) => {
    requireInternalToken(internal, token);
    await internal.register(orderRoutes, routes);
  });
  return app;
};
