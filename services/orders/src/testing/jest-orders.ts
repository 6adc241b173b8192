import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { noDepositSettings, readAssets } from '@cpg/assets';
import { AppError, NewOrderEvent, OrderEvent, type OrderMessage, scalesOf, TOPICS } from '@cpg/contracts';
import type { FaultOf } from '@cpg/embedded-eventstore/testing';
import {
  commandHandler,
  connectEventStore,
  type Projection,
  readStream,
  type RecentEvents,
  recentEvents,
  startProjection,
  startRelay,
} from '@cpg/event-sourcing';
import { consume, createKafka, createPublisher, ensureTopics } from '@cpg/platform/kafka';
import { createPool, migrate, type Pool } from '@cpg/platform/postgres';
import { createLogger, type InternalClient, internalClient, type Logger, newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { buildApp } from '../app.ts';
import { paymentsClient } from '../commands/payments-client.ts';
import { orderChanges } from '../commands/order-changes.ts';
import { orderCommands } from '../commands/order-commands.ts';
import type { OrderHandler } from '../commands/order-handler.ts';
import { type DeadlineOptions, dueOrders, watchDeadlines } from '../deadlines/deadlines.ts';
import { orderRefunding } from '../commands/refund-order.ts';
import { type Deletion, finishDeletions, orderDeletion } from '../commands/deletion.ts';
import { orderCreation } from '../create/create-order.ts';
import { earlierCreates } from '../create/create-once.ts';
import { orderHistory } from '../read/history.ts';
import { orderMessages } from '../read/messages.ts';
import { orderDecider } from '../order/order.ts';
import type { Order } from '../order/state.ts';
import { orderProjection, orderWriter } from '../read/order-projection.ts';
import { readRateTable, tableRates } from '../rates/table.ts';
import { createStock } from '../create/stock.ts';
import { unreadChains } from '../deadlines/unread-chains.ts';
import { callsOf, TOKENS } from './jest-calls.ts';
import { startEngines } from './jest-engines.ts';
import { startPaymentsStub } from './jest-payments-stub.ts';
import { capabilities, offerCall, payment } from './orders.ts';
import { findPayables } from '../create/payables.ts';

const SERVICE = join(import.meta.dirname, '../..');
export const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

export const MERCHANT = newId('merchant');
/** Tolerates that 0.5 % of a total are missing. */
export const TOLERANT_MERCHANT = newId('merchant');

/** The order of a request: 100 MXN, paid in USDC. */
export const body = (changes: Record<string, unknown> = {}) => ({
  external_reference_id: 'cart-1',
  items: [
    {
      name: 'coffee',
      quantity: 2,
      unit_price: '45.50',
      currency: 'MXN',
      modifiers: [{ name: 'oat milk', quantity: 1, unit_price: '9', currency: 'MXN' }],
    },
  ],
  enable_rails: ['gateway_pay'],
  payment_currency: 'USDC',
  capabilities,
  ...changes,
});

export const until = async <T>(look: () => Promise<T | undefined | null | false>): Promise<T> => {
  for (;;) {
    const found = await look();
    if (found) return found;
    await sleep(20);
  }
};

export type OrdersService = Awaited<ReturnType<typeof startOrders>>;

/** The orders service with a real event store, Kafka and PostgreSQL, and a stub of payments. With `leases` it keeps a
 *  stock of payables, else payments assigns them to each order. */
export const startOrders = async ({
  appendFaults,
  leases = false,
}: { appendFaults?: FaultOf; leases?: boolean } = {}) => {
  const log = createLogger({ name: 'orders', level: process.env.LOG_LEVEL ?? 'silent' });
  const engines = await startEngines(appendFaults);
  const stub = await startPaymentsStub();
  const client = connectEventStore(engines.eventStoreUrl);
  const pool = createPool({ url: engines.databaseUrl, name: 'orders-test', asyncCommit: true, log });
  const migrations = join(SERVICE, 'migrations');
  await migrate(pool, { schema: 'orders', folder: migrations });
  const http = internalClient({ name: 'payments', url: stub.url, tokens: TOKENS.payments });
  const rates = unreliableRates();
  let advancedMs = 0;
  const now = () => new Date(Date.now() + advancedMs);
  const recent = recentEvents<Order, OrderEvent>();
  const service = createService({ client, pool, http, rates, now, log, recent, leases });
  const { handler, runDue, deletion, app, other } = service;

  const projection = orderProjection(client, recent);
  const relayed = await startFollowers(engines.brokers, {
    client,
    pool,
    databaseUrl: engines.databaseUrl,
    log,
    recent,
    projection,
    handler,
    runDue,
    deletion,
    now,
  });

  const { call, inject } = callsOf(app);

  return {
    stub,
    client,
    recent,
    pool,
    app,
    call,
    inject,
    now,
    setRatesAvailable: rates.setAvailable,
    /** Runs `work` while the read model is unavailable. */
    withoutReadModel: <T>(work: () => Promise<T>): Promise<T> => withoutReadModel(pool, work),
    /** Advances the clock of the service. */
    advanceClock: (ms: number) => void (advancedMs += ms),
    /** Creates an order, of MERCHANT by default. Throws unless the answer is 201. */
    create: async (changes: Record<string, unknown> = {}, merchantId = MERCHANT) => {
      const order = { order_id: newId('order'), merchant_id: merchantId, order: body(changes) };
      const { status, body: answer } = await call('POST', '/orders', order);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(answer)}`);
      return answer;
    },
    /** Offers payment `n` to an order, seen now and confirmed. */
    offer: (id: string, n: number, amountMinor: bigint) =>
      call('POST', `/orders/${id}/payments`, offerCall(payment(n, amountMinor, { seenAt: now().toISOString() }), true)),
    /** Another instance of the service, with its own stream cache. */
    other,
    rowOf: async (id: string) => (await pool.query('select * from orders.orders where id = $1', [id])).rows[0],
    recordedOf: (id: string) => readStream(client, streamOf(id), OrderEvent),
    messagesOf: (id: string) => relayed.published.filter((message) => message.subject === id),
    /** Options to rebuild and verify the read model. */
    shadowTableOptions: () => ({
      client,
      databaseUrl: engines.databaseUrl,
      projection: orderProjection(client),
      migrations,
      signal: new AbortController().signal,
    }),
    stop: async () => {
      await app.close();
      await relayed.stop();
      await http.close();
      await client.dispose();
      await stub.stop();
      await pool.end();
      await engines.stop();
    },
  };
};

const withoutReadModel = async <T>(pool: Pool, work: () => Promise<T>): Promise<T> => {
  await pool.query('alter table orders.orders rename to unavailable');
  return work().finally(() => pool.query('alter table orders.unavailable rename to orders'));
};

interface ServiceOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  readonly http: InternalClient;
  readonly rates: ReturnType<typeof unreliableRates>;
  readonly now: () => Date;
  readonly log: Logger;
  readonly recent: RecentEvents<Order, OrderEvent>;
  readonly leases: boolean;
}

const streamOf = (id: string) => `order-${id}`;

/** The rates of the sandbox, which can become unavailable. */
const unreliableRates = () => {
  const table = tableRates(readRateTable(join(SERVICE, 'config/sandbox-rates.json')));
  let available = true;
  return {
    setAvailable: (value: boolean) => void (available = value),
    provider: {
      quote: async (...call: Parameters<typeof table.quote>) => {
        if (!available) throw new AppError('rate_unavailable', 'no fresh rate');
        return table.quote(...call);
      },
    },
  };
};

/** The parts of the service that answer calls. */
const createService = ({ client, pool, http, rates, now, log, recent, leases }: ServiceOptions) => {
  const options = { client, decider: orderDecider, schema: OrderEvent, newEvent: NewOrderEvent, streamOf };
  const handler = commandHandler({ ...options, recent });
  const payments = paymentsClient(http);
  const assets = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });
  const stock = createStock({
    assets,
    settings: () => noDepositSettings,
    isAvailable: () => true,
    lease: payments.leaseStock,
    log,
  });
  const shared = {
    payablesOf: findPayables({ payments, ...(leases && { stock }) }),
    rates: rates.provider,
    rateLockMaxMinutes: 1_440,
    assets,
    scales: scalesOf({ CAZ_DECIMALS: 18 }),
    now,
    endsBy: now,
  };
  const toleranceBpsOf = async (merchantId: string) => (merchantId === TOLERANT_MERCHANT ? 50 : 0);
  const instance = (by: OrderHandler) => {
    const project = orderWriter(pool);
    return {
      ...orderCommands({ handler: by, project, payments, log }),
      create: orderCreation({
        ...shared,
        handler: by,
        project,
        earlierCreates: earlierCreates(client),
        toleranceBpsOf,
      }),
    };
  };
  const { create, ...commands } = instance(handler);
  const runDue = dueOrders({ ...shared, commands, awaitsChains: unreadChains({ payments, now, log }) });
  const deletion = orderDeletion({ client, handler, readModel: pool, payments });
  const history = orderHistory({ client, readModel: pool });
  const app = buildApp({
    gate: { waitUntilOpen: async () => {} },
    tokens: TOKENS,
    create,
    currencies: async () => ({ payment_currencies: [] }),
    commands,
    handler,
    changes: orderChanges({ ...shared, commands, handler, payments }),
    deletion,
    refundOrder: orderRefunding({ commands, handler, payments, now, log }),
    runDue,
    history,
    sandbox: true,
    now,
    log,
    checks: {},
  });
  return { handler, runDue, deletion, app, other: instance(commandHandler(options)) };
};

/** The background work of the service, and a consumer that collects the messages it publishes. */
const startFollowers = async (
  brokers: string,
  {
    handler,
    runDue,
    deletion,
    now,
    recent,
    ...follower
  }: Pick<DeadlineOptions, 'handler' | 'runDue' | 'now' | 'log'> & {
    client: EventStoreDBClient;
    pool: Pool;
    databaseUrl: string;
    projection: Projection;
    deletion: Deletion;
    recent: RecentEvents<Order, OrderEvent>;
  },
) => {
  const { client, pool, log, projection } = follower;
  const kafka = createKafka({ KAFKA_BROKERS: [brokers] }, { clientId: 'orders-test', log });
  await ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], { partitions: 4, replication: 1 });
  const publisher = createPublisher(kafka, { transactionalId: 'orders.relay' });
  const { schema, prefixes } = projection;
  const published: OrderMessage[] = [];
  const running = [
    startProjection({ ...follower, beforeProjecting: finishDeletions(client, deletion) }),
    startRelay({
      ...follower,
      schema,
      prefixes,
      publisherFor: () => publisher,
      topic: TOPICS.orders.name,
      messageOf: orderMessages(client, recent),
    }),
    watchDeadlines({ readModel: pool, handler, runDue, now, endsBy: now, log, everyMs: 20 }),
    consume({
      kafka,
      groupId: 'observer',
      topics: [TOPICS.orders],
      handle: async (messages) => void published.push(...messages),
      isTransientError: () => true,
      log,
    }),
  ];
  return {
    published,
    stop: async () => {
      await Promise.all(running.map((each) => each.stop()));
      await publisher.close();
    },
  };
};
