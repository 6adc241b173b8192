import { join } from 'node:path';
import { NewPaymentEvent, PaymentEvent, TOPICS } from '@cpg/contracts';
import { checkEventStore, commandHandler, connectEventStore } from '@cpg/event-store';
import { consume, createKafka, createPublisher, ensureTopics } from '@cpg/kafka';
import { createPool, isTransientDatabaseError, migrate } from '@cpg/postgres';
import { createLogger, internalClient, createStartupTasks, runService } from '@cpg/runtime';
import { startProjection, startRelay } from '@cpg/stream-relay';
import { buildApp } from './app.ts';
import { paymentChanges } from './changes.ts';
import { ordersClient } from './clients/orders.ts';
import { paymentCommands } from './commands.ts';
import { readPaymentsConfig } from './config.ts';
import { forgetPayments } from './deletion.ts';
import { paymentHistory } from './history.ts';
import { instructionsFrom } from './instructions.ts';
import { registerPayments } from './matching.ts';
import { paymentMessages } from './messages.ts';
import { paymentStreamOf } from './payment/identity.ts';
import { paymentDecider } from './payment/payment.ts';
import { paymentProjection } from './projections/payment-projection.ts';
import { projectPayments } from './projections/payments.ts';
import { cryptoDeposit, orderOfAddress } from './rails/crypto-deposit.ts';
import { gatewayPay, sandboxProvider } from './rails/gateway-pay.ts';
import { ORDER_NEWS, reactToOrders } from './reactions/orders.ts';
import { orderTeller } from './telling.ts';

await runService(async () => {
  const config = readPaymentsConfig(process.env);
  const log = createLogger({ name: 'payments', level: config.LOG_LEVEL });
  const now = () => new Date();
  for (const { name, account } of config.networks) {
    const { fingerprint, depth } = account;
    log.info({ network: name, fingerprint, depth }, 'deposits go to this account key');
    if (depth !== 3)
      log.warn({ network: name, depth }, 'account keys are usually at depth 3: check that the wallet finds path 0/i');
  }

  const client = connectEventStore(config.EVENTSTORE_URL);
  const databaseUrl = config.DATABASE_URL;
  const pool = createPool({ url: databaseUrl, name: 'payments', max: 12, log });
  const followerPool = createPool({ url: databaseUrl, name: 'payments followers', max: 4, asyncCommit: true, log });
  const kafka = createKafka(config, { clientId: 'payments', log });
  const publisher = createPublisher(kafka, { transactionalId: 'payments.relay' });
  const ordersHttp = internalClient({ name: 'orders', url: config.ORDERS_URL, token: config.INTERNAL_TOKEN });

  const handler = commandHandler({
    client,
    decider: paymentDecider,
    schema: PaymentEvent,
    newEvent: NewPaymentEvent,
    streamOf: paymentStreamOf,
  });
  const commands = paymentCommands({ handler, project: (projected) => projectPayments(pool, [projected]) });
  const forget = forgetPayments({ client, handler, readModel: pool });
  const orders = ordersClient(ordersHttp);
  const tellOrder = orderTeller({ commands, orders, now });
  const providers = config.ENVIRONMENT === 'sandbox' ? [sandboxProvider({ pool, publicUrl: config.PUBLIC_URL })] : [];
  const rails = [gatewayPay(providers), cryptoDeposit({ networks: config.networks, pool })];

  const prepared = createStartupTasks(log);
  const app = buildApp({
    token: config.INTERNAL_TOKEN,
    instructions: instructionsFrom(rails),
    register: registerPayments({
      commands,
      orders,
      tellOrder,
      orderOfAddress: (address) => orderOfAddress(pool, address),
      fees: config.fees,
      now,
      log,
    }),
    changes: paymentChanges({ commands, tellOrder, now, log }),
    commands,
    forget,
    history: paymentHistory({ client, readModel: pool }),
    log,
    checks: {
      database: () => pool.query('select 1'),
      eventstore: () => checkEventStore(client),
      preparation: prepared.check,
    },
  });
  await app.listen({ port: config.PORT, host: config.HOST });

  const projection = paymentProjection(client);
  const { schema, prefixes } = projection;
  const follower = { client, pool: followerPool, databaseUrl, log };
  const migrated = prepared.run('migrations', () =>
    migrate(pool, { schema: 'payments', folder: join(import.meta.dirname, '../migrations') }),
  );
  const topics = prepared.runOptional('topics', () =>
    ensureTopics(kafka, [TOPICS.orders.name, TOPICS.payments.name], {
      partitions: config.KAFKA_PARTITIONS,
      replication: config.KAFKA_REPLICATION,
    }),
  );
  // Payments are taken, also while there is no Kafka.
  const atHome = migrated.then(() => [startProjection({ ...follower, projection })]);
  const withOthers = Promise.all([migrated, topics]).then(() => [
    startRelay({
      ...follower,
      schema,
      prefixes,
      publisher,
      topic: TOPICS.payments.name,
      messageOf: paymentMessages(client),
    }),
    consume({
      kafka,
      groupId: 'payments',
      topics: [{ ...TOPICS.orders, types: ORDER_NEWS }],
      handle: reactToOrders({ commands, forget }),
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
      () => ordersHttp.close(),
      () => pool.end(),
      () => followerPool.end(),
      () => client.dispose(),
    ],
  };
});
