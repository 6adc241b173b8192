import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CreateMerchantDto, MerchantCreateOrderDto, Order, Payment } from '@cpg/contracts';
import { createPool, migrate, type Pool, testDatabase } from '@cpg/postgres';
import { createLogger, internalClient, secretBox } from '@cpg/runtime';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { buildApp } from '../app.ts';
import { ordersClient } from '../clients/orders.ts';
import { paymentsClient } from '../clients/payments.ts';
import { webhookDispatcherClient } from '../clients/webhook-dispatcher.ts';
import { createAuthenticator } from '../keys/authenticator.ts';
import { verifySecret } from '../keys/hash.ts';
import { issueKey, type KeyGrant } from '../keys/issue.ts';
import { createLastUses } from '../keys/last-uses.ts';
import { Scope } from '../keys/scopes.ts';
import { tokenBuckets } from '../limits/token-buckets.ts';
import { migrateGateway } from '../migrations.ts';
import * as examples from '../openapi/examples.ts';
import { showPresence } from '../presence.ts';
import { credentialByKid, noteLastUses } from '../queries/credentials.ts';
import { insertMerchant } from '../queries/merchants.ts';
import { newSeed } from '../seed.ts';
import { checkEndpointUrl, type Resolve } from '../webhooks/endpoint-url.ts';
import { refusal, type StubCall, type StubService, startStub } from './jest-stub-service.ts';

const PEPPER = 'pepper of the tests, thirty-two characters';
const INTERNAL_TOKEN = 'token of the tests, thirty-two characters';
export const log = createLogger({ name: 'gateway-test', level: process.env.TEST_LOG ?? 'silent' });

export interface TestGateway {
  readonly app: FastifyInstance;
  readonly pool: Pool;
  readonly orders: StubService;
  readonly payments: StubService;
  readonly dispatcher: StubService;
  /** A new merchant with a key of its own. */
  readonly merchant: (grant?: Partial<KeyGrant>) => Promise<TestMerchant>;
  readonly flushLastUses: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface TestMerchant {
  readonly id: string;
  readonly key: string;
  /** Sends a request with the merchant's key. */
  readonly send: (
    method: NonNullable<InjectOptions['method']>,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly issue: (grant: Partial<KeyGrant> & { alg?: 'SCRYPT' | 'ARGON2ID' }) => Promise<string>;
}

export interface Answer {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look at whatever came back
  readonly body: any;
  readonly headers: Record<string, unknown>;
  readonly text: string;
}

export interface TestGatewayOptions {
  readonly environment?: 'sandbox' | 'production';
  readonly perSecond?: number;
  readonly burst?: number;
  readonly failuresPerMinute?: number;
  readonly allowLocal?: boolean;
  readonly resolve?: Resolve;
  readonly trustMs?: number;
  readonly now?: () => Date;
  readonly answerWithinMs?: number;
  /** Another way to the database of the test. */
  readonly wayTo?: (url: string) => Promise<string>;
}

const publicHost: Resolve = async () => [{ address: '93.184.216.34', family: 4 }];

/** The gateway on a database of its own, with stubs for the services behind it. */
export const startGateway = async (options: TestGatewayOptions = {}): Promise<TestGateway> => {
  const { environment = 'sandbox', now = () => new Date() } = options;
  const keyEnvironment = environment === 'sandbox' ? 'sandbox' : 'live';
  const database = await testDatabase();
  const pool = createPool({ url: (await options.wayTo?.(database.url)) ?? database.url, name: 'gateway-test', log });
  await migrateGateway(pool);
  await migrateReadModels(pool);
  const [orders, payments, dispatcher] = await Promise.all([
    startStub(ordersAnswer),
    startStub(() => refusal(404, 'not_found')),
    startStub(({ method }) =>
      method === 'DELETE' ? { status: 204 } : { status: 201, body: { delivery_id: `dlv_${newSeed()}` } },
    ),
  ]);
  const clientOf = (name: string, { url }: StubService) => internalClient({ name, url, token: INTERNAL_TOKEN });
  const clients = [
    clientOf('orders', orders),
    clientOf('payments', payments),
    clientOf('dispatcher', dispatcher),
  ] as const;
  const lastUses = createLastUses({ write: (uses) => noteLastUses(pool, uses), log, everyMs: 60_000 });
  const monotonicMs = () => performance.now();
  const perMinute = options.failuresPerMinute ?? 0;
  const presence = showPresence({ url: database.url, log });
  while (presence.instance() === null) await sleep(5);
  const app = await buildApp({
    environment,
    pool,
    orders: ordersClient(clients[0]),
    payments: paymentsClient(clients[1]),
    dispatcher: webhookDispatcherClient(clients[2]),
    authenticator: createAuthenticator({
      environment: keyEnvironment,
      verify: (secret, kept) => verifySecret(secret, kept, PEPPER),
      find: (kid) => credentialByKid(pool, kid),
      onUse: lastUses.note,
      now,
      ...(options.trustMs !== undefined && { trustMs: options.trustMs }),
    }),
    limits: {
      requests: tokenBuckets({ perSecond: options.perSecond ?? 0, burst: options.burst ?? 0, now: monotonicMs }),
      failures: tokenBuckets({ perSecond: perMinute / 60, burst: perMinute, now: monotonicMs }),
    },
    instance: presence.instance,
    box: secretBox(['key of the tests that seals, thirty-two characters']),
    checkUrl: (url) =>
      checkEndpointUrl(url, { allowLocal: options.allowLocal ?? false, resolve: options.resolve ?? publicHost }),
    ready: { postgres: () => pool.query('select 1') },
    now,
    log,
    trustProxy: ['127.0.0.1'],
    ...(options.answerWithinMs !== undefined && { answerWithinMs: options.answerWithinMs }),
  });

  const merchant = async (grant: Partial<KeyGrant> = {}): Promise<TestMerchant> => {
    const id = `mer_${newSeed()}`;
    await insertMerchant(pool, id, { ...MERCHANT, external_reference_id: id }, now());
    const issue: TestMerchant['issue'] = async ({ alg, ...more }) => {
      const full = { merchantId: id, scopes: Scope.options, environment: keyEnvironment, ...more } satisfies KeyGrant;
      return (await issueKey(pool, full, { pepper: PEPPER, at: now(), ...(alg && { alg }) })).text;
    };
    const key = await issue(grant);
    return {
      id,
      key,
      issue,
      send: (method, url, body, headers) => send(app, method, url, body, { 'x-api-key': key, ...headers }),
    };
  };

  return {
    app,
    pool,
    orders,
    payments,
    dispatcher,
    merchant,
    flushLastUses: lastUses.stop,
    close: async () => {
      await app.close();
      await lastUses.stop();
      await presence.stop();
      await Promise.all(clients.map((client) => client.close()));
      await Promise.all([orders.close(), payments.close(), dispatcher.close()]);
      await pool.end();
      await database.drop();
    },
  };
};

export const send = async (
  app: FastifyInstance,
  method: NonNullable<InjectOptions['method']>,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const answer = await app.inject({
    method,
    url,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const isJson = String(answer.headers['content-type']).includes('json') && answer.body !== '';
  return {
    status: answer.statusCode,
    body: isJson ? answer.json() : undefined,
    headers: answer.headers,
    text: answer.body,
  };
};

const migrateReadModels = async (pool: Pool): Promise<void> => {
  for (const [schema, service = schema] of [['orders'], ['payments'], ['webhooks', 'webhook-dispatcher']] as const) {
    await migrate(pool, { schema, folder: fileURLToPath(new URL(`../../../${service}/migrations`, import.meta.url)) });
  }
};

const MERCHANT: CreateMerchantDto = {
  type: 'individual',
  external_reference_id: 'of the tests',
  individual_profile: { first_name: 'Ada', last_name: 'Byron', email: 'ada@shop.example' },
  payment_methods: [
    { type: 'crypto_deposit', supported_currencies: ['USDC', 'BTC'], deposit_instructions: {} },
    { type: 'gateway_pay', supported_currencies: ['USDC'], deposit_instructions: {} },
  ],
  metadata: {},
};

export const orderBody = (more: Partial<MerchantCreateOrderDto> = {}): MerchantCreateOrderDto => ({
  ...examples.createOrder,
  ...more,
});

/** An order as the orders service answers it. */
export const orderOf = (id: string, merchantId: string, more: Partial<Order> = {}): Order => ({
  ...examples.order,
  id,
  merchant_id: merchantId,
  ...more,
});

export const paymentOf = (id: string, merchantId: string, more: Partial<Payment> = {}): Payment => ({
  ...examples.payment,
  id,
  merchant_id: merchantId,
  ...more,
});

export const ordersAnswer = ({ method, path, body }: StubCall) => {
  const { order_id, merchant_id } = body as { order_id?: string; merchant_id: string };
  const id = order_id ?? path.split('/')[2] ?? '';
  if (method === 'DELETE') return { status: 200, body: { id, deleted: true } };
  return { status: order_id ? 201 : 200, body: orderOf(id, merchant_id) };
};

/** Puts an order into the read model, as the orders service does. */
export const projectOrder = async (pool: Pool, order: Order): Promise<void> => {
  await pool.query(
    `insert into orders.orders (id, merchant_id, external_reference_id, status, currency, created_at, revision, resource)
     values ($1, $2, $3, $4, $5, $6, 0, $7)`,
    [order.id, order.merchant_id, order.external_reference_id, order.status, order.currency, order.created_at, order],
  );
};

/** Puts a payment into the read model, as the payments service does. */
export const projectPayment = async (pool: Pool, payment: Payment): Promise<void> => {
  await pool.query(
    `insert into payments.payments (id, merchant_id, order_id, status, currency, payment_rail, created_at, revision, resource)
     values ($1, $2, $3, $4, $5, $6, $7, 0, $8)`,
    [
      payment.id,
      payment.merchant_id,
      payment.order_id,
      payment.status,
      payment.currency,
      payment.payment_rail,
      payment.created_at,
      payment,
    ],
  );
};
