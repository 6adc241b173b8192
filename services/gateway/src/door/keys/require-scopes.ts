import { AppError } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../request.ts';

/** Refuses callers whose key lacks the scope of the route. Registering a route without a scope throws. */
export const requireScopes = (app: FastifyInstance): void => {
  app.addHook('onRoute', ({ url, config }) => {
    if (!config?.scope) throw new Error(`${url} has no scope in its config`);
  });
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config;
    if (!scope || !callerOf(request).scopes.has(scope))
      throw new AppError('insufficient_scope', `the key needs the scope ${scope}`);
  });
};
