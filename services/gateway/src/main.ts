import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scalesOf } from '@cpg/contracts';
import { EVENT_STORE, openEventStore } from '@cpg/event-sourcing';
import {
  createAddressMatcher,
  createClockGuard,
  createServiceLog,
  createServiceMetrics,
  createStartGate,
  createStartupTasks,
  type InternalClient,
  internalClient,
  type Logger,
  type Outages,
  runService,
  secretBox,
  wallClock,
} from '@cpg/platform';
import { databaseClocks, databaseDependency, POSTGRES } from '@cpg/platform/postgres';
import { z } from 'zod';
import { startAudit } from './audit/start-audit.ts';
import { checkEndpointUrl } from './api/merchant-urls.ts';
import { ordersClient } from './api/orders/orders-client.ts';
import { paymentsClient } from './api/payments/payments-client.ts';
import { webhookDispatcherClient } from './api/webhooks/webhook-dispatcher-client.ts';
import { boxOfEachKey } from './api/webhooks/webhook-queries.ts';
import { buildApp } from './app.ts';
import { nodeWallet } from './checkout/sandbox/test-wallet.ts';
import { type GatewayConfig, readConfig } from './config.ts';
import { readDashboard } from './dashboard/dashboard-files.ts';
import { deleteExpiredRequests, holdInstanceLock } from './door/idempotency/stored-requests.ts';
import { startCleanup } from './door/idempotency/cleanup.ts';
import { completeCrashedDeletions } from './door/idempotency/deleted-resources.ts';
import { keyEnvironmentOf } from './door/keys/api-key.ts';
import { type Authenticator, type AuthenticatorOptions, createAuthenticator } from './door/keys/authenticator.ts';
import { createCredentialLoader, credentialsByKids, replaceHash, updateLastUsed } from './door/keys/credentials.ts';
import { createKeyVerifier } from './door/keys/hash.ts';
import { createLastUsedTracker } from './door/keys/last-used.ts';
import { createScopeUseTracker, updateScopeUses } from './door/keys/scope-uses.ts';
import { createRateLimits } from './door/limits/rate-limits.ts';
import { deleteRequests, insertRequests } from './door/request-log/logged-requests.ts';
import { createRequestLog } from './door/request-log/request-log.ts';
import { createOidcProvider } from './identity/oidc.ts';
import { deleteEndedSignIns } from './identity/sessions.ts';
import { totpBoxOfEachKey } from './identity/users.ts';
import { migrateGateway } from './migrations.ts';
import { readSdkPackage } from './openapi/sdk-package.ts';
import { openPools, type Pools } from './pools.ts';

const DAY_MS = 24 * 60 * 60_000;

await runService(async () => {
  const config = readConfig(process.env);
  const { log, outages } = createServiceLog({ name: 'gateway', level: config.LOG_LEVEL });
  const pools = openPools({ url: config.DATABASE_URL, log });
  const pool = pools.main;
  const services = connectServices(config, outages);
  const store = openEventStore({ url: config.EVENTSTORE_URL, log });
  // The gateway is ready without it. During an outage, the check replaces a client that keeps failing.
  outages.watch(EVENT_STORE, { check: store.check });

  const startup = createStartupTasks(log);
  const gate = createStartGate();
  const instanceLock = holdInstanceLock({ url: config.DATABASE_URL, log });
  const now = wallClock;
  const metrics = createServiceMetrics(outages);
  const clock = createClockGuard({ now, ...databaseClocks(pool), metrics, log });
  const lastUsed = createLastUsedTracker({ write: (uses) => updateLastUsed(pool, uses), log });
  const scopeUses = createScopeUseTracker({ write: (uses) => updateScopeUses(pool, uses), log });
  const requestLog = createRequestLog({ write: (requests) => insertRequests(pool, requests), metrics, log });
  const cleanup = startCleanup({
    tasks: {
      'deleted expired idempotency keys': () => deleteExpiredRequests(pool, clock.endsBy()),
      'deleted ended sessions and links': () => deleteEndedSignIns(pool, clock.endsBy()),
      'deleted old requests': () =>
        deleteRequests(pool, new Date(clock.endsBy().getTime() - config.REQUEST_LOG_DAYS * DAY_MS)),
      'deleted stored responses of deleted orders': () => completeCrashedDeletions(pool, clock.endsBy()),
    },
    log,
  });
  const box = secretBox(config.WEBHOOK_ENCRYPTION_KEY);
  const app = await buildApp({
    environment: config.ENVIRONMENT,
    scales: scalesOf(config),
    gate,
    pool,
    ...services.clients,
    authenticator: keyAuthenticator(config, pools, { onUse: lastUsed.record, now, log }),
    onScopeUse: (kid, scope) => scopeUses.record(kid, scope, now()),
    requestLog: config.REQUEST_LOG_DAYS > 0 ? requestLog : undefined,
    pepper: config.API_KEY_PEPPER[0]!,
    limits: createRateLimits({
      perSecond: config.RATE_LIMIT_PER_SECOND,
      burst: config.RATE_LIMIT_BURST,
      failuresPerMinute: config.RATE_LIMIT_AUTH_PER_MINUTE,
    }),
    instanceName: instanceLock.instanceName,
    box,
    checkUrl: endpointCheck(config),
    allowLocalUrls: config.WEBHOOK_ALLOW_LOCAL,
    ready: {
      postgres: outages.watch(POSTGRES, databaseDependency(pool)),
      preparation: startup.check,
      ...services.checks,
    },
    outages,
    metrics: { registry: metrics, tokens: config.METRICS_TOKEN },
    details: async () => clock.details(),
    now,
    endsBy: clock.endsBy,
    wallet: config.TEST_WALLET_URL === undefined ? undefined : nodeWallet(config.TEST_WALLET_URL),
    ...(config.ENVIRONMENT === 'sandbox' && { sdk: readSdkPackage(fileURLToPath(new URL('./sdk', import.meta.url))) }),
    dashboard: readDashboard(dashboardFolder()),
    oidc: oidcOf(config),
    log,
    trustProxy: config.TRUST_PROXY,
    payPage: payPageOf(config),
  });
  await app.listen({ port: config.PORT, host: config.HOST });
  clock.start();
  log.info({ port: config.PORT, environment: config.ENVIRONMENT }, 'gateway is listening');
  let audit: ReturnType<typeof startAudit> | undefined;
  startup
    .run('migrations', async () => {
      await migrateGateway(pool, config.ENVIRONMENT);
      box.requireKeysOf([...(await boxOfEachKey(pool)), ...(await totpBoxOfEachKey(pool))]);
    })
    .then(
      () => {
        gate.open();
        const { ENVIRONMENT: environment, DATABASE_URL: databaseUrl, AUDIT_LOG_KEY: signer } = config;
        const { client } = store;
        const { failed } = outages;
        audit = startAudit({ client, pool, databaseUrl, environment, signer, now, metrics, failed, log });
      },
      () => {}, // The process stops.
    );
  return {
    log,
    close: [
      outages.stop,
      () => app.close(),
      startup.stop,
      clock.stop,
      cleanup.stop,
      lastUsed.stop,
      scopeUses.stop,
      requestLog.stop,
      () => audit?.stop(),
      instanceLock.stop,
      store.close,
      services.close,
      pools.end,
    ],
  };
});

/** Where the build of packages/dashboard is. */
function dashboardFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve('@cpg/dashboard/package.json')), 'dist');
}

/** The provider of OpenID Connect, if one is configured: the settings are all there, or none. */
function oidcOf({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME, PUBLIC_URL }: GatewayConfig) {
  if (!OIDC_ISSUER || !OIDC_CLIENT_ID || !OIDC_CLIENT_SECRET || !OIDC_NAME || !PUBLIC_URL) return undefined;
  const client = { clientId: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET };
  return createOidcProvider({ issuer: OIDC_ISSUER, ...client, name: OIDC_NAME, publicUrl: PUBLIC_URL });
}

/** The script of the payment page, and how many pages may be open. */
function payPageOf({ PAY_PAGE_STREAMS: max, PAY_PAGE_STREAMS_PER_ADDRESS: maxPerAddress }: GatewayConfig) {
  const script = readFileSync(new URL('./checkout/browser/page.js', import.meta.url));
  return { script, streams: { max, maxPerAddress } };
}

/** Clients of the services behind the gateway. The gateway is ready without the dispatcher. */
function connectServices(config: GatewayConfig, outages: Outages) {
  const clientOf = (name: string, url: string, tokens: string[]) => internalClient({ name, url, tokens, outages });
  const orders = clientOf('orders', config.ORDERS_URL, config.GATEWAY_TO_ORDERS_TOKEN);
  const payments = clientOf('payments', config.PAYMENTS_URL, config.GATEWAY_TO_PAYMENTS_TOKEN);
  const { WEBHOOK_DISPATCHER_URL, GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN } = config;
  const dispatcher = clientOf('webhook-dispatcher', WEBHOOK_DISPATCHER_URL, GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN);
  return {
    clients: {
      orders: ordersClient(orders),
      payments: paymentsClient(payments),
      dispatcher: webhookDispatcherClient(dispatcher),
    },
    checks: { orders: () => ping(orders), payments: () => ping(payments) },
    close: () => Promise.all([orders.close(), payments.close(), dispatcher.close()]),
  };
}

/** Checks the URLs of webhooks. */
function endpointCheck({ WEBHOOK_ALLOW_LOCAL, WEBHOOK_ALLOW_ADDRESSES, WEBHOOK_ALLOW_PORTS }: GatewayConfig) {
  const isAllowed = createAddressMatcher(WEBHOOK_ALLOW_ADDRESSES ?? []);
  const allowed = { allowLocal: WEBHOOK_ALLOW_LOCAL, isAllowed, allowedPorts: WEBHOOK_ALLOW_PORTS ?? [] };
  return (url: string) => checkEndpointUrl(url, allowed);
}

/** Authenticates with the API keys of the database. */
function keyAuthenticator(
  { ENVIRONMENT, API_KEY_PEPPER }: GatewayConfig,
  pools: Pools,
  { onUse, now, log }: Pick<AuthenticatorOptions, 'onUse' | 'now'> & { log: Logger },
): Authenticator {
  return createAuthenticator({
    environment: keyEnvironmentOf(ENVIRONMENT),
    verify: createKeyVerifier({
      peppers: API_KEY_PEPPER,
      replaceHash: (...hashes) => replaceHash(pools.main, ...hashes),
      log,
    }),
    findCredential: createCredentialLoader({ load: (kids) => credentialsByKids(pools.authentication, kids) }),
    onUse,
    now,
  });
}

/** Calls the health route of a service, for the readiness check. Does not retry. */
async function ping(client: InternalClient): Promise<void> {
  await client.call('GET', '/health', {
    context: { actor: 'service:gateway', requestId: 'readiness', correlationId: 'readiness' },
    response: z.object({ status: z.literal('ok') }),
    connectRetryMs: 0,
  });
}
