import { join } from 'node:path';
import { NewOrderEvent, OrderEvent, TOPICS } from '@cpg/contracts';
import { checkEventStore, commandHandler, connectEventStore } from '@cpg/event-store';
import { consume, createKafka, createPublisher, ensureTopics } from '@cpg/kafka';
import { createPool, isTransientDatabaseError, migrate } from '@cpg/postgres';
import { createLogger, internalClient, createStartupTasks, runService } from '@cpg/runtime';
import { startProjection, startRelay } from '@cpg/stream-relay';
import { buildApp } from './app.ts';
import { paymentsClient } from './clients/payments.ts';
import { orderCommands } from './commands.ts';
import { readOrdersConfig } from './config.ts';
import { watchDeadlines } from './deadlines.ts';
import { finishDeletions, orderDeletion } from './deletion.ts';
import { orderHistory } from './history.ts';
import { orderMessages } from './messages.ts';
import { orderStreamOf } from './order/identity.ts';
import { orderDecider } from './order/order.ts';
import { orderProjection } from './projections/order-projection.ts';
import { projectOrders } from './projections/orders.ts';
import { marketRates } from './rates/market.ts';
import { readUrl } from './rates/read.ts';
import { bitso } from './rates/sources/bitso.ts';
import { coinbase } from './rates/sources/coinbase.ts';
import { ecb } from './rates/sources/ecb.ts';
import { kraken } from './rates/sources/kraken.ts';
import { readRateTable, tableRates } from './rates/table.ts';
import { PAYMENT_NEWS, reactToPayments } from './reactions/payments.ts';

await runService(async () => {
  const config = readOrdersConfig(process.env);
  const log = createLogger({ name: 'orders', level: config.LOG_LEVEL });
  const now = () => new Date();

  const client = connectEventStore(config.EVENTSTORE_URL);
  const databaseUrl = config.DATABASE_URL;
  const readModel = createPool({ url: databaseUrl, name: 'orders', max: 12, log });
  const followerPool = createPool({ url: databaseUrl, name: 'orders followers', max: 4, asyncCommit: true, log });
  const kafka = createKafka(config, { clientId: 'orders', log });
  const publisher = createPublisher(kafka, { transactionalId: 'orders.relay' });
  const paymentsHttp = internalClient({ name: 'payments', url: config.PAYMENTS_URL, token: config.INTERNAL_TOKEN });

  const handler = commandHandler({
    client,
    decider: orderDecider,
    schema: OrderEvent,
    newEvent: NewOrderEvent,
    streamOf: orderStreamOf,
  });
  const payments = paymentsClient(paymentsHttp);
  const market = marketRates({
    sources: [kraken, coinbase, bitso, ecb],
    fixed: config.FIXED_USD_PRICES ?? new Map(),
    read: readUrl,
    now,
    log,
  });
  const fromMarket = (config.RATES ?? (config.ENVIRONMENT === 'production' ? 'market' : 'table')) === 'market';
  const rates = fromMarket ? market : tableRates(readRateTable(config.RATES_FILE));
  const commands = orderCommands({
    handler,
    project: (order, revision) => projectOrders(readModel, [{ order, revision }]),
    payments,
    rates,
    now,
    log,
  });
  const deletion = orderDeletion({ client, handler, readModel, payments });

  const prepared = createStartupTasks(log);
  const app = buildApp({
    token: config.INTERNAL_TOKEN,
    commands,
    handler,
    deletion,
    payments,
    history: orderHistory({ client, readModel }),
    sandbox: config.ENVIRONMENT === 'sandbox',
    now,
    log,
    checks: {
      database: () => readModel.query('select 1'),
      eventstore: () => checkEventStore(client),
      preparation: prepared.check,
    },
  });
  await app.listen({ port: config.PORT, host: config.HOST });

  const projection = orderProjection(client);
  const { schema, prefixes } = projection;
  const follower = { client, pool: followerPool, databaseUrl, log };
  const migrated = prepared.run('migrations', () =>
    migrate(readModel, { schema: 'orders', folder: join(import.meta.dirname, '../migrations') }),
  );
  const topics = prepared.runOptional('topics', () =>
    ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], {
      partitions: config.KAFKA_PARTITIONS,
      replication: config.KAFKA_REPLICATION,
    }),
  );
  // Orders are taken and fall due, also while there is no Kafka.
  const atHome = migrated.then(() => [
    startProjection({ ...follower, projection, beforeProjecting: finishDeletions(client, deletion) }),
    ...(fromMarket ? [market.start()] : []),
    watchDeadlines({ readModel, handler, commands, now, log }),
  ]);
  const withOthers = Promise.all([migrated, topics]).then(() => [
    startRelay({
      ...follower,
      schema,
      prefixes,
      publisher,
      topic: TOPICS.orders.name,
      messageOf: orderMessages(client),
    }),
    consume({
      kafka,
      groupId: 'orders',
      topics: [{ ...TOPICS.payments, types: PAYMENT_NEWS }],
      handle: reactToPayments({ commands, payments, now }),
      isTransientError: isTransientDatabaseError,
      // Whoever waits was told by a call.
      preferThroughput: true,
      log,
    }),
  ]);
  const started = [atHome, withOthers].map((parts) => parts.catch(() => []));

  return {
    log,
    close: [
      () => app.close(),
      prepared.stop,
      async () => Promise.all((await Promise.all(started)).flat().map((part) => part.stop())),
      () => publisher.close(),
      () => paymentsHttp.close(),
      () => readModel.end(),
      () => followerPool.end(),
      () => client.dispose(),
    ],
  };
});
