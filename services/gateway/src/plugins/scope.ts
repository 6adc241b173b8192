import { AppError } from '@cpg/core';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../request.ts';

/** Refuses callers whose key lacks the scope that the route names. A route that names none does not start. */
export const requireScopes = (app: FastifyInstance): void => {
  app.addHook('onRoute', ({ url, config }) => {
    if (!config?.scope) throw new Error(`${url} names no scope`);
  });
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config;
    if (!scope || !callerOf(request).scopes.has(scope)) throw new AppError('insufficient_scope', `${scope} is needed`);
  });
};
