import type { Scales } from '@cpg/contracts';
import {
  clientNetwork,
  createApp,
  healthRoutes,
  type LoadClass,
  type LoadLimits,
  type Logger,
  metricsRoute,
  type Outages,
  type ReadinessChecks,
  refuseOverload,
  type SecretBox,
  type ServedMetrics,
  type StartGate,
  waitForStartGate,
} from '@cpg/platform';
import { isTransientDatabaseError, type Pool } from '@cpg/platform/postgres';
import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { apiKeyRoutes } from './api/api-keys/api-key-routes.ts';
import { auditLogRoutes } from './api/audit-log/audit-log-routes.ts';
import { currencyRoutes } from './api/currencies/currency-routes.ts';
import { debugRoutes } from './api/debug/debug-routes.ts';
import { webhookDeliveryRoutes, webhookReplayRoutes } from './api/deliveries/delivery-routes.ts';
import { addPageLinks } from './api/lists/page-links.ts';
import { merchantRoutes } from './api/merchants/merchant-routes.ts';
import { orderRoutes } from './api/orders/order-routes.ts';
import type { OrdersClient } from './api/orders/orders-client.ts';
import { overviewRoutes } from './api/overview/overview-routes.ts';
import { paymentPageSettingsRoutes } from './api/payment-page/payment-page-routes.ts';
import { paymentRoutes } from './api/payments/payment-routes.ts';
import type { PaymentsClient } from './api/payments/payments-client.ts';
import { settlementRoutes } from './api/reports/settlement-routes.ts';
import { volumeRoutes } from './api/reports/volume-routes.ts';
import { sessionRoutes } from './api/sessions/session-routes.ts';
import { providerPaymentRoutes } from './api/providers/provider-routes.ts';
import { refundClaimRoutes } from './api/refunds/claim-routes.ts';
import { refundRoutes } from './api/refunds/refund-routes.ts';
import { requestRoutes } from './api/requests/request-routes.ts';
import type { WebhookDispatcherClient } from './api/webhooks/webhook-dispatcher-client.ts';
import { userRoutes } from './api/users/user-routes.ts';
import { webhookRoutes, webhookSecretRoutes } from './api/webhooks/webhook-routes.ts';
import { transparencyLogRoutes } from './audit/transparency-log/log-routes.ts';
import { payPageRoutes, type PayPageSettings } from './checkout/checkout-routes.ts';
import { serveLooks } from './checkout/looks.ts';
import type { TestWallet } from './checkout/sandbox/test-wallet.ts';
import { repairPagePath } from './checkout/state/page-link.ts';
import type { Dashboard } from './dashboard/dashboard-files.ts';
import { dashboardRoutes } from './dashboard/dashboard-routes.ts';
import { acceptJsonBodies } from './door/bodies/json-body.ts';
import { rejectUnstorableText } from './door/bodies/storable-text.ts';
import { refuseUnknownParameters } from './door/bodies/unknown-parameters.ts';
import { handleIdempotencyKeys } from './door/idempotency/idempotency.ts';
import { keyEnvironmentOf, type Scope } from './door/keys/api-key.ts';
import { authenticate, refuseDisabledMerchants, requireScopes } from './door/keys/authenticate.ts';
import type { Authenticator } from './door/keys/authenticator.ts';
import { limitRequestRate, type RateLimits } from './door/limits/rate-limits.ts';
import { createLoadLimits, limitConcurrentReads } from './door/limits/read-concurrency.ts';
import { compressResponses } from './door/responses/compression.ts';
import { addLocations, addSecurityHeaders, answerMethodNotAllowed, forbidCaching } from './door/responses/headers.ts';
import { recordRequests, type RequestLog } from './door/request-log/request-log.ts';
import { closeUnreadConnections } from './door/responses/unread-responses.ts';
import type { OidcProvider } from './identity/oidc.ts';
import { serveApiDocs } from './openapi/plugin.ts';
import { type SdkPackage, serveSdkPackage } from './openapi/sdk-package.ts';

export interface AppOptions {
  readonly environment: 'sandbox' | 'production';
  /** Of amounts in requests. */
  readonly scales: Scales;
  /** Opens once the database belongs to the environment. */
  readonly gate: Pick<StartGate, 'waitUntilOpen'>;
  readonly pool: Pool;
  readonly orders: OrdersClient;
  readonly payments: PaymentsClient;
  readonly dispatcher: WebhookDispatcherClient;
  readonly authenticator: Authenticator;
  /** Hashes new API keys. */
  readonly pepper: string;
  readonly limits: RateLimits;
  /** The limits of requests in progress. Default: those of a new gateway. */
  readonly loadLimits?: LoadLimits | undefined;
  readonly box: SecretBox;
  /** The name of this gateway's instance lock; null while it does not hold the lock. */
  readonly instanceName: () => string | null;
  readonly checkUrl: (url: string) => Promise<void>;
  /** Whether merchants may name http URLs of this machine. */
  readonly allowLocalUrls: boolean;
  readonly ready: ReadinessChecks;
  /** Facts for `/health/ready` that decide nothing. */
  readonly details?: () => Promise<object>;
  readonly outages?: Outages;
  readonly metrics?: ServedMetrics;
  readonly payPage: PayPageSettings;
  readonly now: () => Date;
  /** A key uses a scope. */
  readonly onScopeUse: (kid: string, scope: Scope) => void;
  /** Where requests are stored for their merchants, if they are. */
  readonly requestLog?: Pick<RequestLog, 'record'> | undefined;
  /** The time by which Idempotency-Keys end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  /** The test wallet of a sandbox. */
  readonly wallet?: TestWallet | undefined;
  /** The client for merchants. A sandbox serves it. */
  readonly sdk?: SdkPackage | undefined;
  /** The pages of merchants. */
  readonly dashboard?: Dashboard | undefined;
  /** With which users can sign in, if there is one. */
  readonly oidc?: OidcProvider | undefined;
  readonly log: Logger;
  readonly trustProxy: boolean | number | string[];
  /** A request that takes longer gets 503. */
  readonly answerWithinMs?: number;
}

/** The public API. A request is refused for overload first. Then plugins check requests in the order of registration:
 *  401, 429 and 403 before the body is read, then 400, then others. */
export const buildApp = async (options: AppOptions): Promise<FastifyInstance> => {
  const { environment, authenticator, limits, outages, metrics, log, trustProxy, answerWithinMs } = options;
  const keyEnvironment = keyEnvironmentOf(environment);
  const app = createApp({
    log,
    outages,
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    isTransientError: isTransientDatabaseError,
    rewriteUrl: ({ url = '/' }) => repairPagePath(url),
    ...(answerWithinMs !== undefined && { responseTimeoutMs: answerWithinMs }),
  }) as unknown as FastifyInstance;
  /** Undefined without a key, and for a key that was not verified before or is not valid now. */
  const knownMerchant = ({ headers: { 'x-api-key': key }, ip }: FastifyRequest) =>
    typeof key === 'string' ? authenticator.merchantOf(key, ip) : undefined;
  // First, so that a refusal has these headers too.
  addSecurityHeaders(app);
  refuseOverload(app, {
    limits: options.loadLimits ?? createLoadLimits(),
    ownerOf: (request) => knownMerchant(request) ?? clientNetwork(request.ip),
    classOf: (request, routeClass) =>
      (routeClass === 'create' || routeClass === 'normal') && knownMerchant(request) === undefined
        ? 'keyless'
        : routeClass,
    log,
    metrics: metrics?.registry,
  });
  app.addHook('onRequest', async (request, reply) => void reply.header('x-request-id', request.id));
  closeUnreadConnections(app);
  await compressResponses(app);
  await app.register(cookie);
  answerMethodNotAllowed(app);
  await serveApiDocs(app);
  if (environment === 'sandbox' && options.sdk) serveSdkPackage(app, options.sdk);
  if (metrics) metricsRoute(app, metrics);

  await app.register(receiveProviderPayments, options);
  await app.register(servePaymentPage, options);
  await app.register(serveTransparencyLog, options);
  if (options.dashboard) await app.register(serveDashboard, { ...options, dashboard: options.dashboard });

  await app.register(async (api) => {
    acceptJsonBodies(api);
    rejectUnstorableText(api);
    healthRoutes(api, options.ready, { details: options.details });

    await api.register(
      async (v1) => {
        forbidCaching(v1);
        recordRequests(v1, options);
        waitForStartGate(v1, options.gate);
        authenticate(v1, { authenticator, limits, required: true, sessions: { db: options.pool, now: options.now } });
        limitRequestRate(v1, limits.requests);
        refuseDisabledMerchants(v1);
        requireScopes(v1, options.onScopeUse);
        refuseUnknownParameters(v1);
        handleIdempotencyKeys(v1, options);
        limitConcurrentReads(v1);
        addLocations(v1);
        addPageLinks(v1);
        await v1.register(merchantRoutes, options);
        await v1.register(overviewRoutes, options);
        await v1.register(volumeRoutes, options);
        await v1.register(settlementRoutes, options);
        await v1.register(paymentPageSettingsRoutes, options);
        await v1.register(auditLogRoutes, options);
        await v1.register(currencyRoutes, options);
        await v1.register(orderRoutes, options);
        await v1.register(paymentRoutes, options);
        await v1.register(refundRoutes, options);
        await v1.register(refundClaimRoutes, options);
        await v1.register(apiKeyRoutes, { ...options, keyEnvironment });
        await v1.register(requestRoutes, options);
        await v1.register(userRoutes, options);
        await v1.register(webhookSecretRoutes, options);
        await v1.register(webhookRoutes, options);
        await v1.register(webhookDeliveryRoutes, options);
        await v1.register(webhookReplayRoutes, options);
      },
      { prefix: '/v1' },
    );

    await api.register(
      async (sessions) => {
        forbidCaching(sessions);
        waitForStartGate(sessions, options.gate);
        limitRequestRate(sessions, limits.requests);
        refuseUnknownParameters(sessions);
        await sessions.register(sessionRoutes, { ...options, keyEnvironment });
      },
      { prefix: '/v1' },
    );

    if (environment === 'sandbox') {
      await api.register(
        async (debug) => {
          forbidCaching(debug);
          recordRequests(debug, options);
          waitForStartGate(debug, options.gate);
          authenticate(debug, { authenticator, limits, required: false });
          limitRequestRate(debug, limits.requests);
          refuseDisabledMerchants(debug);
          refuseUnknownParameters(debug);
          await debug.register(debugRoutes, options);
        },
        { prefix: '/debug' },
      );
    }
  });
  await app.ready();
  return app;
};

/** Callbacks of payment providers need no key: their signature is verified by payments, over the body as it arrived. */
const receiveProviderPayments = async (app: FastifyInstance, options: AppOptions): Promise<void> => {
  setLoadClass(app, 'callback');
  forbidCaching(app);
  waitForStartGate(app, options.gate);
  limitRequestRate(app, options.limits.requests);
  await app.register(providerPaymentRoutes, { ...options, prefix: '/v1' });
};

/** Counts requests by address, because payers have no key: a reference of 128 bits opens a page. */
const servePaymentPage = async (app: FastifyInstance, options: AppOptions): Promise<void> => {
  setLoadClass(app, 'page');
  waitForStartGate(app, options.gate);
  limitRequestRate(app, options.limits.requests);
  serveLooks(app, options);
  const { environment, orders, payments, now, wallet } = options;
  const sandbox = environment === 'sandbox' ? { orders, payments, now, wallet: wallet ?? null } : undefined;
  await app.register(payPageRoutes, { ...options, sandbox });
};

/** Counts requests by address, because the files of the dashboard need no session. */
const serveDashboard = async (app: FastifyInstance, options: AppOptions & { dashboard: Dashboard }): Promise<void> => {
  setLoadClass(app, 'page');
  limitRequestRate(app, options.limits.requests);
  dashboardRoutes(app, options.dashboard);
};

/** Counts requests by address, because whoever checks the log needs no key. */
const serveTransparencyLog = async (app: FastifyInstance, options: AppOptions): Promise<void> => {
  setLoadClass(app, 'page');
  waitForStartGate(app, options.gate);
  limitRequestRate(app, options.limits.requests);
  transparencyLogRoutes(app, options);
};

/** Sets the class of all routes that have none. */
const setLoadClass = (app: FastifyInstance, load: LoadClass): void => {
  app.addHook('onRoute', (route) => {
    route.config = { load, ...route.config };
  });
};
