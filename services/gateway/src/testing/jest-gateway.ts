import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { scalesOf } from '@cpg/contracts';
import {
  createLogger,
  createOutages,
  createServiceMetrics,
  internalClient,
  type LoadLimits,
  type Logger,
  newUlid,
  type ResolveHost,
  secretBox,
  type StartGate,
} from '@cpg/platform';
import { databaseDependency, migrate, type Pool, POSTGRES } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import type { FastifyInstance } from 'fastify';
import { checkEndpointUrl } from '../api/merchant-urls.ts';
import { ordersClient } from '../api/orders/orders-client.ts';
import { paymentsClient } from '../api/payments/payments-client.ts';
import { webhookDispatcherClient } from '../api/webhooks/webhook-dispatcher-client.ts';
import { buildApp } from '../app.ts';
import type { TestWallet } from '../checkout/sandbox/test-wallet.ts';
import type { Dashboard } from '../dashboard/dashboard-files.ts';
import { holdInstanceLock } from '../door/idempotency/stored-requests.ts';
import { keyEnvironmentOf } from '../door/keys/api-key.ts';
import { createAuthenticator } from '../door/keys/authenticator.ts';
import { createCredentialLoader, credentialsByKids, type KeySpec, updateLastUsed } from '../door/keys/credentials.ts';
import { verifySecret } from '../door/keys/hash.ts';
import { createLastUsedTracker } from '../door/keys/last-used.ts';
import { createScopeUseTracker, updateScopeUses } from '../door/keys/scope-uses.ts';
import { createRateLimits } from '../door/limits/rate-limits.ts';
import { insertRequests } from '../door/request-log/logged-requests.ts';
import { createRequestLog } from '../door/request-log/request-log.ts';
import type { OidcProvider } from '../identity/oidc.ts';
import { migrateGateway } from '../migrations.ts';
import type { SdkPackage } from '../openapi/sdk-package.ts';
import { openPools } from '../pools.ts';
import { createTestMerchant, PEPPER, type TestMerchant } from './jest-merchant.ts';
import { ordersResponse, paymentsResponse } from './jest-resources.ts';
import { startStub, type StubService } from './jest-stub-service.ts';

export type { TestMerchant } from './jest-merchant.ts';

export const METRICS_TOKEN = 'token of the tests, thirty-two characters';
export const log = createLogger({ name: 'gateway-test', level: process.env.TEST_LOG ?? 'silent' });

export interface TestGateway {
  readonly app: FastifyInstance;
  readonly pool: Pool;
  readonly databaseUrl: string;
  /** The pool for API keys. */
  readonly authentication: Pool;
  readonly orders: StubService;
  readonly payments: StubService;
  readonly dispatcher: StubService;
  /** Creates a merchant with a key. */
  readonly merchant: (spec?: Partial<KeySpec>) => Promise<TestMerchant>;
  readonly flushLastUsed: () => Promise<void>;
  readonly flushRequestLog: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface TestGatewayOptions {
  readonly environment?: 'sandbox' | 'production';
  readonly perSecond?: number;
  readonly burst?: number;
  readonly failuresPerMinute?: number;
  readonly allowLocal?: boolean;
  readonly resolve?: ResolveHost;
  readonly cacheTtlMs?: number;
  readonly now?: () => Date;
  readonly endsBy?: () => Date;
  readonly answerWithinMs?: number;
  readonly wallet?: TestWallet;
  /** None by default. */
  readonly sdk?: SdkPackage;
  /** None by default. */
  readonly dashboard?: Dashboard;
  /** None by default. */
  readonly oidc?: OidcProvider;
  /** Of the gateway's lines. */
  readonly log?: Logger;
  readonly loadLimits?: LoadLimits;
  readonly statementTimeoutMs?: number;
  /** The bundle of the payment page. Empty by default. */
  readonly pageScript?: Buffer;
  /** Open by default. */
  readonly gate?: StartGate;
  /** Starts a proxy in front of the database and returns its URL. */
  readonly databaseProxy?: (url: string) => Promise<string>;
}

/** Starts a gateway with its own database and stubs of the other services. */
export const startGateway = async (options: TestGatewayOptions = {}): Promise<TestGateway> => {
  const { environment = 'sandbox', now = () => new Date() } = options;
  const database = await testDatabase();
  const url = (await options.databaseProxy?.(database.url)) ?? database.url;
  const pools = openPools({ url, name: 'gateway-test', statementTimeoutMs: options.statementTimeoutMs, log });
  const pool = pools.main;
  await migrateGateway(pool, environment);
  await migrateReadModels(pool);
  const services = await startServices();
  const lastUsed = createLastUsedTracker({ write: (uses) => updateLastUsed(pool, uses), log, everyMs: 60_000 });
  const scopeUses = createScopeUseTracker({ write: (uses) => updateScopeUses(pool, uses), log, everyMs: 60_000 });
  const requestLog = createRequestLog({ write: (requests) => insertRequests(pool, requests), log, everyMs: 60_000 });
  const instanceLock = holdInstanceLock({ url: database.url, log });
  while (instanceLock.instanceName() === null) await sleep(5);
  const outages = createOutages(log);
  const app = await buildApp({
    gate: options.gate ?? { waitUntilOpen: async () => {} },
    environment,
    scales: scalesOf({ CAZ_DECIMALS: 18 }),
    pool,
    ...services.clients,
    authenticator: createAuthenticator({
      environment: keyEnvironmentOf(environment),
      verify: async (secret, stored) => (await verifySecret(secret, stored, [PEPPER])) !== 'invalid',
      findCredential: createCredentialLoader({ load: (kids) => credentialsByKids(pools.authentication, kids) }),
      onUse: lastUsed.record,
      now,
      ...(options.cacheTtlMs !== undefined && { cacheTtlMs: options.cacheTtlMs }),
    }),
    onScopeUse: (kid, scope) => scopeUses.record(kid, scope, now()),
    requestLog,
    pepper: PEPPER,
    limits: createRateLimits({
      perSecond: options.perSecond ?? 0,
      burst: options.burst ?? 0,
      failuresPerMinute: options.failuresPerMinute ?? 0,
    }),
    instanceName: instanceLock.instanceName,
    box: secretBox(['key of the tests that seals, thirty-two characters']),
    checkUrl: (text) =>
      checkEndpointUrl(text, { allowLocal: options.allowLocal ?? false, resolve: options.resolve ?? publicHost }),
    allowLocalUrls: options.allowLocal ?? false,
    ready: { postgres: outages.watch(POSTGRES, databaseDependency(pool)) },
    outages,
    metrics: { registry: createServiceMetrics(outages), tokens: [METRICS_TOKEN] },
    now,
    endsBy: options.endsBy ?? now,
    log: options.log ?? log,
    trustProxy: ['127.0.0.1'],
    payPage: { script: options.pageScript ?? Buffer.from(''), streams: { max: 10, maxPerAddress: 5 } },
    wallet: options.wallet,
    sdk: options.sdk,
    dashboard: options.dashboard,
    oidc: options.oidc,
    loadLimits: options.loadLimits,
    ...(options.answerWithinMs !== undefined && { answerWithinMs: options.answerWithinMs }),
  });

  return {
    app,
    pool,
    databaseUrl: database.url,
    authentication: pools.authentication,
    ...services.stubs,
    merchant: (spec = {}) => createTestMerchant({ app, pool, environment: keyEnvironmentOf(environment), now, spec }),
    flushLastUsed: async () => {
      await lastUsed.stop();
      await scopeUses.stop();
    },
    flushRequestLog: requestLog.stop,
    close: async () => {
      outages.stop();
      await app.close();
      await lastUsed.stop();
      await scopeUses.stop();
      await requestLog.stop();
      await instanceLock.stop();
      await services.close();
      await pools.end();
      await database.drop();
    },
  };
};

/** Stubs of the services behind the gateway, and the gateway's clients to them. */
const startServices = async () => {
  const [orders, payments, dispatcher] = await Promise.all([
    startStub(ordersResponse),
    startStub(paymentsResponse),
    startStub(({ method }) =>
      method === 'DELETE' ? { status: 204 } : { status: 201, body: { delivery_id: `dlv_${newUlid()}` } },
    ),
  ]);
  const clientOf = (name: string, { url }: StubService) => internalClient({ name, url, tokens: [`token for ${name}`] });
  const clients = {
    orders: clientOf('orders', orders),
    payments: clientOf('payments', payments),
    dispatcher: clientOf('dispatcher', dispatcher),
  };
  return {
    stubs: { orders, payments, dispatcher },
    clients: {
      orders: ordersClient(clients.orders),
      payments: paymentsClient(clients.payments),
      dispatcher: webhookDispatcherClient(clients.dispatcher),
    },
    close: async (): Promise<void> => {
      await Promise.all(Object.values(clients).map((client) => client.close()));
      await Promise.all([orders.close(), payments.close(), dispatcher.close()]);
    },
  };
};

const publicHost: ResolveHost = async () => ['93.184.216.34'];

const migrateReadModels = async (pool: Pool): Promise<void> => {
  for (const [schema, service = schema] of [['orders'], ['payments'], ['webhooks', 'webhook-dispatcher']] as const) {
    await migrate(pool, { schema, folder: fileURLToPath(new URL(`../../../${service}/migrations`, import.meta.url)) });
  }
};
