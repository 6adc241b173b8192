import { createPool } from '@cpg/postgres';
import {
  createAddressMatcher,
  createLogger,
  internalClient,
  createStartupTasks,
  runService,
  secretBox,
} from '@cpg/runtime';
import { z } from 'zod';
import { buildApp } from './app.ts';
import { startCleaning } from './cleaning.ts';
import { ordersClient } from './clients/orders.ts';
import { paymentsClient } from './clients/payments.ts';
import { webhookDispatcherClient } from './clients/webhook-dispatcher.ts';
import { readConfig } from './config.ts';
import { keyEnvironmentOf } from './keys/api-key.ts';
import { createAuthenticator } from './keys/authenticator.ts';
import { verifySecret } from './keys/hash.ts';
import { createLastUses } from './keys/last-uses.ts';
import { tokenBuckets } from './limits/token-buckets.ts';
import { migrateGateway } from './migrations.ts';
import { showPresence } from './presence.ts';
import { credentialByKid, noteLastUses } from './queries/credentials.ts';
import { forgetExpiredRequests } from './queries/idempotency.ts';
import { checkEndpointUrl } from './webhooks/endpoint-url.ts';

await runService(async () => {
  const config = readConfig(process.env);
  const log = createLogger({ name: 'gateway', level: config.LOG_LEVEL });
  const pool = createPool({ url: config.DATABASE_URL, name: 'gateway', log });
  const clientOf = (name: string, url: string) => internalClient({ name, url, token: config.INTERNAL_TOKEN });
  const orders = clientOf('orders', config.ORDERS_URL);
  const payments = clientOf('payments', config.PAYMENTS_URL);
  const dispatcher = clientOf('webhook-dispatcher', config.WEBHOOK_DISPATCHER_URL);
  const isUp = (client: typeof orders) => () =>
    client.call('GET', '/health', {
      context: { actor: 'service:gateway', requestId: 'readiness', correlationId: 'readiness' },
      response: z.object({ status: z.literal('ok') }),
      connectRetryMs: 0,
    });

  const prepared = createStartupTasks(log);
  const presence = showPresence({ url: config.DATABASE_URL, log });
  const now = () => new Date();
  const monotonicMs = () => performance.now();
  const lastUses = createLastUses({ write: (uses) => noteLastUses(pool, uses), log });
  const cleaning = startCleaning({ clean: () => forgetExpiredRequests(pool), log });
  const isAllowed = createAddressMatcher(config.WEBHOOK_ALLOW_ADDRESSES ?? []);
  const perMinute = config.RATE_LIMIT_AUTH_PER_MINUTE;
  const app = await buildApp({
    environment: config.ENVIRONMENT,
    pool,
    orders: ordersClient(orders),
    payments: paymentsClient(payments),
    dispatcher: webhookDispatcherClient(dispatcher),
    authenticator: createAuthenticator({
      environment: keyEnvironmentOf(config.ENVIRONMENT),
      verify: (secret, kept) => verifySecret(secret, kept, config.API_KEY_PEPPER),
      find: (kid) => credentialByKid(pool, kid),
      onUse: lastUses.note,
      now,
    }),
    limits: {
      requests: tokenBuckets({
        perSecond: config.RATE_LIMIT_PER_SECOND,
        burst: config.RATE_LIMIT_BURST,
        now: monotonicMs,
      }),
      failures: tokenBuckets({ perSecond: perMinute / 60, burst: perMinute, now: monotonicMs }),
    },
    instance: presence.instance,
    box: secretBox(config.WEBHOOK_ENCRYPTION_KEY),
    checkUrl: (url) => checkEndpointUrl(url, { allowLocal: config.WEBHOOK_ALLOW_LOCAL, isAllowed }),
    ready: {
      postgres: () => pool.query('select 1'),
      preparation: prepared.check,
      orders: isUp(orders),
      payments: isUp(payments),
    },
    now,
    log,
    trustProxy: config.TRUST_PROXY,
  });
  await app.listen({ port: config.PORT, host: config.HOST });
  log.info({ port: config.PORT, environment: config.ENVIRONMENT }, 'gateway is listening');
  prepared.run('migrations', () => migrateGateway(pool)).catch(() => {});
  return {
    log,
    close: [
      () => app.close(),
      prepared.stop,
      cleaning.stop,
      lastUses.stop,
      presence.stop,
      () => Promise.all([orders.close(), payments.close(), dispatcher.close()]),
      () => pool.end(),
    ],
  };
});
