import { isTransientDatabaseError, type Pool } from '@cpg/postgres';
import { createApp, healthRoutes, type Logger, type ReadinessChecks, type SecretBox } from '@cpg/runtime';
import type { FastifyInstance } from 'fastify';
import type { OrdersClient } from './clients/orders.ts';
import type { PaymentsClient } from './clients/payments.ts';
import type { WebhookDispatcherClient } from './clients/webhook-dispatcher.ts';
import type { Authenticator } from './keys/authenticator.ts';
import type { TokenBuckets } from './limits/token-buckets.ts';
import { documentApi } from './openapi/plugin.ts';
import { authenticate } from './plugins/api-key.ts';
import { answerOnce } from './plugins/idempotency.ts';
import { readJsonBodies } from './plugins/json-body.ts';
import { refuseOtherMethods } from './plugins/other-methods.ts';
import { limitRate } from './plugins/rate-limit.ts';
import { requireScopes } from './plugins/scope.ts';
import { secureHeaders } from './plugins/secure-headers.ts';
import { refuseUnstorableText } from './plugins/storable-text.ts';
import { takeTurns } from './plugins/turns.ts';
import { debugRoutes } from './routes/debug.ts';
import { merchantRoutes } from './routes/merchants.ts';
import { orderRoutes } from './routes/orders.ts';
import { paymentRoutes } from './routes/payments.ts';
import { webhookDeliveryRoutes } from './routes/webhook-deliveries.ts';
import { webhookRoutes } from './routes/webhooks.ts';

export interface AppOptions {
  readonly environment: 'sandbox' | 'production';
  readonly pool: Pool;
  readonly orders: OrdersClient;
  readonly payments: PaymentsClient;
  readonly dispatcher: WebhookDispatcherClient;
  readonly authenticator: Authenticator;
  /** Requests by key, and failed authentications by address. */
  readonly limits: { readonly requests: TokenBuckets; readonly failures: TokenBuckets };
  readonly box: SecretBox;
  /** The name by which other gateways can tell whether this one lives. */
  readonly instance: () => string | null;
  readonly checkUrl: (url: string) => Promise<void>;
  readonly ready: ReadinessChecks;
  readonly now: () => Date;
  readonly log: Logger;
  readonly trustProxy: boolean | string[];
  /** A request that has no answer by then gets 503. */
  readonly answerWithinMs?: number;
}

/** The public API. What is registered first is checked first: 401, 429, 403 before the body is read, then 400, then the rest. */
export const buildApp = async (options: AppOptions): Promise<FastifyInstance> => {
  const { environment, authenticator, limits, log, trustProxy, answerWithinMs } = options;
  const app = createApp({
    log,
    trustProxy,
    isTransientError: isTransientDatabaseError,
    ...(answerWithinMs !== undefined && { responseTimeoutMs: answerWithinMs }),
  }) as unknown as FastifyInstance;
  app.addHook('onRequest', async (request, reply) => void reply.header('x-request-id', request.id));
  await secureHeaders(app);
  refuseOtherMethods(app);
  await documentApi(app);

  await app.register(async (api) => {
    readJsonBodies(api);
    refuseUnstorableText(api);
    healthRoutes(api, options.ready);

    await api.register(
      async (v1) => {
        authenticate(v1, { authenticator, failures: limits.failures, required: true });
        limitRate(v1, limits.requests);
        requireScopes(v1);
        answerOnce(v1, options);
        takeTurns(v1);
        await v1.register(merchantRoutes, options);
        await v1.register(orderRoutes, options);
        await v1.register(paymentRoutes, options);
        await v1.register(webhookRoutes, options);
        await v1.register(webhookDeliveryRoutes, options);
      },
      { prefix: '/v1' },
    );

    if (environment === 'sandbox') {
      await api.register(
        async (debug) => {
          authenticate(debug, { authenticator, failures: limits.failures, required: false });
          limitRate(debug, limits.requests);
          await debug.register(debugRoutes, options);
        },
        { prefix: '/debug' },
      );
    }
  });
  await app.ready();
  return app;
};
