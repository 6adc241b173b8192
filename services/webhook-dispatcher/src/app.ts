import { internalApp, type InternalAppOptions } from '@cpg/platform';
import { isTransientDatabaseError } from '@cpg/platform/postgres';
import { type WebhookRoutes, webhookRoutes } from './routes.ts';

interface AppOptions extends InternalAppOptions {
  /** Dependencies of the routes. */
  readonly routes: WebhookRoutes;
}

/** The internal HTTP server of the dispatcher. */
export const buildApp = ({ routes, ...options }: AppOptions) =>
  internalApp({ ...options, isTransientError: isTransientDatabaseError }, async (app) => {
    await app.register(webhookRoutes, routes);
  });
