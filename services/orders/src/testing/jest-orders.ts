import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NewOrderEvent, OrderEvent, type OrderMessage, TOPICS } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { startKafka } from '@cpg/embedded-kafka';
import { commandHandler, connectEventStore, readStream } from '@cpg/event-store';
import { consume, createKafka, createPublisher, ensureTopics } from '@cpg/kafka';
import { createPool, migrate, testDatabase } from '@cpg/postgres';
import { createLogger, internalClient, newId } from '@cpg/runtime';
import { startProjection, startRelay } from '@cpg/stream-relay';
import { buildApp } from '../app.ts';
import { paymentsClient } from '../clients/payments.ts';
import { orderCommands, type OrderHandler } from '../commands.ts';
import { watchDeadlines } from '../deadlines.ts';
import { finishDeletions, orderDeletion } from '../deletion.ts';
import { orderHistory } from '../history.ts';
import { orderMessages } from '../messages.ts';
import type { OrderCommand } from '../order/command.ts';
import { orderDecider } from '../order/order.ts';
import { orderProjection } from '../projections/order-projection.ts';
import { projectOrders } from '../projections/orders.ts';
import { readRateTable, tableRates } from '../rates/table.ts';
import { startPaymentsStub } from './jest-payments-stub.ts';
import { capabilities, offerCall, payment } from './orders.ts';

const SERVICE = join(import.meta.dirname, '../..');
const TOKEN = 'a-token-that-services-share-in-tests';

const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

export const MERCHANT = newId('merchant');

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

/** The service as it is, against a real event store, Kafka and PostgreSQL, and a stub of payments. */
export const startOrders = async () => {
  const log = createLogger({ name: 'orders', level: process.env.LOG_LEVEL ?? 'silent' });
  const [database, forEvents, forKafka] = await Promise.all([testDatabase(), testDatabase(), testDatabase()]);
  const [eventStore, kafkaServer] = await Promise.all([
    startEventStore({ databaseUrl: forEvents.url, port: 0 }),
    startKafka({ databaseUrl: forKafka.url, port: 0 }),
  ]);
  const stub = await startPaymentsStub();
  const client = connectEventStore(eventStore.url);
  const pool = createPool({ url: database.url, name: 'orders-test', asyncCommit: true, log });
  const migrations = join(SERVICE, 'migrations');
  await migrate(pool, { schema: 'orders', folder: migrations });
  const http = internalClient({ name: 'payments', url: stub.url, token: TOKEN });
  const streamOf = (id: string) => `order-${id}`;
  const makeHandler = () =>
    commandHandler({ client, decider: orderDecider, schema: OrderEvent, newEvent: NewOrderEvent, streamOf });
  const handler = makeHandler();
  const payments = paymentsClient(http);
  let putForward = 0;
  const now = () => new Date(Date.now() + putForward);
  const commandsBy = (by: OrderHandler) =>
    orderCommands({
      handler: by,
      project: (order, revision) => projectOrders(pool, [{ order, revision }]),
      payments,
      rates: tableRates(readRateTable(join(SERVICE, 'config/sandbox-rates.json'))),
      now,
      log,
    });
  const commands = commandsBy(handler);
  const deletion = orderDeletion({ client, handler, readModel: pool, payments });
  const history = orderHistory({ client, readModel: pool });
  const app = buildApp({
    token: TOKEN,
    commands,
    handler,
    deletion,
    payments,
    history,
    sandbox: true,
    now,
    log,
    checks: {},
  });

  const kafka = createKafka({ KAFKA_BROKERS: [kafkaServer.brokers] }, { clientId: 'orders-test', log });
  await ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], { partitions: 4, replication: 1 });
  const publisher = createPublisher(kafka, { transactionalId: 'orders.relay' });
  const follower = { client, pool, databaseUrl: database.url, log };
  const projection = orderProjection(client);
  const { schema, prefixes } = projection;
  const heard: OrderMessage[] = [];
  const followers = [
    startProjection({ ...follower, projection, beforeProjecting: finishDeletions(client, deletion) }),
    startRelay({
      ...follower,
      schema,
      prefixes,
      publisher,
      topic: TOPICS.orders.name,
      messageOf: orderMessages(client),
    }),
    watchDeadlines({ readModel: pool, handler, commands, now, log, everyMs: 20 }),
    consume({
      kafka,
      groupId: 'listener',
      topics: [TOPICS.orders],
      handle: async (messages) => void heard.push(...messages),
      isTransientError: () => true,
      log,
    }),
  ];

  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-actor': 'key:test' };
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: response.statusCode, body: response.json() };
  };

  return {
    stub,
    client,
    pool,
    app,
    call,
    now,
    /** Lets so much time pass for the service, once for all. */
    putForward: (ms: number) => void (putForward += ms),
    /** An order of MERCHANT unless it is another's; the answer must be 201. */
    create: async (changes: Record<string, unknown> = {}, merchantId = MERCHANT) => {
      const order = { order_id: newId('order'), merchant_id: merchantId, order: body(changes) };
      const { status, body: answer } = await call('POST', '/orders', order);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(answer)}`);
      return answer;
    },
    /** The `n`th payment is offered to an order, seen now and confirmed. */
    offer: (id: string, n: number, amountMinor: bigint) =>
      call('POST', `/orders/${id}/payments`, offerCall(payment(n, amountMinor, { seenAt: now().toISOString() }), true)),
    /** A command that another process of the service is given. */
    anotherProcess: (id: string, command: OrderCommand) => commandsBy(makeHandler()).run(id, command, CONTEXT),
    rowOf: async (id: string) => (await pool.query('select * from orders.orders where id = $1', [id])).rows[0],
    recordedOf: (id: string) => readStream(client, streamOf(id), OrderEvent),
    messagesOf: (id: string) => heard.filter((message) => message.subject === id),
    /** What rebuilding and verifying the read model take. */
    shadowTableOptions: () => ({
      client,
      databaseUrl: database.url,
      projection,
      migrations,
      signal: new AbortController().signal,
    }),
    stop: async () => {
      await app.close();
      await Promise.all(followers.map((each) => each.stop()));
      await publisher.close();
      await http.close();
      await client.dispose();
      await Promise.all([eventStore.stop(), kafkaServer.stop(), stub.stop()]);
      await pool.end();
      await Promise.all([database, forEvents, forKafka].map((each) => each.drop()));
    },
  };
};
