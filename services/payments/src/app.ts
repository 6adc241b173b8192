import { AppError } from '@cpg/core';
import { isDatabaseOutage } from '@cpg/postgres';
import { createApp, healthRoutes, type Logger, type ReadinessChecks, requireInternalToken } from '@cpg/runtime';
import { type PaymentRoutes, paymentRoutes } from './routes.ts';

/** The internal HTTP interface of payments. Only health answers without the services' token. */
export const buildApp = ({
  token,
  checks,
  log,
  ...routes
}: PaymentRoutes & { token: string; checks: ReadinessChecks; log: Logger }) => {
  const app = createApp({ log });
  healthRoutes(app, checks);
  void app.register(async (internal) => {
    requireInternalToken(internal, token);
    internal.setErrorHandler((error) => {
      if (!isDatabaseOutage(error)) throw error;
      throw new AppError('dependency_unavailable', 'the database is not available right now: try again', {
        cause: error,
      });
    });
    await internal.register(paymentRoutes, routes);
  });
  return app;
};
