import { NewPaymentEvent, PaymentEvent, TOPICS } from '@cpg/contracts';
import { commandHandler, createLags, eventStoreClock, type RecentEvents, recentEvents } from '@cpg/event-sourcing';
import { openConnections, startBackgroundWork, withRecordedScales } from '@cpg/operations';
import { databaseClocks } from '@cpg/platform/postgres';
import {
  createClockGuard,
  createServiceLog,
  createServiceMetrics,
  createStartGate,
  createStartupTasks,
  internalClient,
  type Logger,
  runService,
  type StartupTasks,
  wallClock,
} from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { depositSettings } from './accounts/deposit-settings.ts';
import type { MerchantAccounts } from './accounts/merchant-accounts.ts';
import { buildApp } from './app.ts';
import { startBooksCheck } from './books/books-check.ts';
import { paymentChanges } from './changes.ts';
import { ordersClient } from './clients/orders.ts';
import { paymentCommands, type PaymentHandler, withPaymentLog } from './commands.ts';
import { refuseTransferFees, type TransferFeeOptions } from './chains/evm/transfer-fees.ts';
import { networkAvailability } from './chains/network-availability.ts';
import type { Chains } from './chains/start-chains.ts';
import { watchChains } from './chains/watch-chains.ts';
import { readPaymentsConfig } from './config.ts';
import { paymentDeletion } from './deletion.ts';
import { paymentHistory } from './history.ts';
import { registerPayments } from './matching.ts';
import { paymentMessages } from './messages.ts';
import { MIGRATIONS } from './migrations.ts';
import { orderNotifier } from './order-notifier.ts';
import { pageAddresses } from './pages/page-addresses.ts';
import { type AssetsInUseOptions, requireAssetsInUse } from './payables/assets-in-use.ts';
import { findPayable } from './payables/find-payable.ts';
import { hadFailedAtDeletion, isOrderRecorded, merchantOfOrder } from './payables/merchant-of-order.ts';
import { paymentStreamOf } from './payment/identity.ts';
import { paymentDecider } from './payment/payment.ts';
import type { Payment } from './payment/state.ts';
import { payableProjection } from './projections/payable-projection.ts';
import { paymentProjection } from './projections/payment-projection.ts';
import { paymentWriter, unsettledPaymentOf } from './projections/payments.ts';
import { providerReports } from './providers/provider-reports.ts';
import type { DepositNetwork } from './rails/networks.ts';
import { openRails } from './rails/open-rails.ts';
import { ORDER_MESSAGE_TYPES, reactToOrders } from './reactions/orders.ts';
import { unclaimedMetrics } from './unclaimed/unclaimed-metrics.ts';

await runService(async () => {
  const config = readPaymentsConfig(process.env);
  const { log, outages } = createServiceLog({ name: 'payments', level: config.LOG_LEVEL });
  const now = wallClock;
  logAccountKeys(config.networks, log);

  const connections = openConnections(config, { name: 'payments', log, outages });
  const { client, readModel, followerPool } = connections;
  const ordersHttp = internalClient({
    name: 'orders',
    url: config.ORDERS_URL,
    tokens: config.PAYMENTS_TO_ORDERS_TOKEN,
  });
  outages.watch('orders', { check: ordersHttp.checkReady });

  const recent = recentEvents<Payment, PaymentEvent>();
  const handler = withPaymentLog(paymentHandler(client, recent), log);
  const commands = paymentCommands({ handler, project: paymentWriter(followerPool) });
  const deletePayments = paymentDeletion({ client, handler, readModel });
  const orders = ordersClient(ordersHttp);
  const notifyOrder = orderNotifier({
    commands,
    orders,
    isOrderRecorded: (orderId) => isOrderRecorded(client, orderId),
    now,
  });
  const metrics = createServiceMetrics(outages);
  unclaimedMetrics(metrics, readModel);
  const clock = createClockGuard({ now, ...databaseClocks(readModel, [eventStoreClock(client)]), metrics, log });
  const availability = networkAvailability({ config, db: readModel, now });
  const { read: readNetworks } = availability;
  const { accounts, providers, ...rails } = openRails({ config, client, readModel, readNetworks, now });

  const startupTasks = createStartupTasks(log);
  const gate = createStartGate();
  const payableAt = findPayable({ client, readModel, log });
  const register = registerPayments({
    commands,
    notifyOrder,
    findPayable: payableAt,
    fees: config.fees,
    now,
    merchantOfOrder: (orderId) => merchantOfOrder(client, orderId),
    hadFailedAtDeletion: (...payment) => hadFailedAtDeletion(client, ...payment),
  });
  const changes = paymentChanges({ commands, notifyOrder, now, log });
  const chains = watchChains({
    config,
    client,
    pool: readModel,
    accounts,
    findPayable: payableAt,
    availability,
    register,
    fail: changes.fail,
    metrics,
    now,
    endsBy: clock.endsBy,
    log,
  });
  const reports = providerReports({ providers: providers.outside, register, readModel, orders, metrics, now, log });
  const app = buildApp({
    tokens: {
      gateway: config.GATEWAY_TO_PAYMENTS_TOKEN,
      orders: config.ORDERS_TO_PAYMENTS_TOKEN,
      'webhook-dispatcher': config.WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN,
      admin: config.ADMIN_TO_PAYMENTS_TOKEN,
    },
    sandbox: config.ENVIRONMENT === 'sandbox',
    gate,
    ...rails,
    register,
    receiveCallback: reports.receiveCallback,
    askLast: reports.askLast,
    pageAddresses: pageAddresses({
      client,
      findPayable: payableAt,
      readAccounts: accounts.read,
      table: config.assets,
      metrics,
      log,
    }),
    changes,
    commands,
    deletePayments,
    unsettledPayment: (orderId, heldByOrder) => unsettledPaymentOf(readModel, orderId, heldByOrder),
    standingOfChain: chains.standing,
    history: paymentHistory({ client, readModel }),
    depositSettings: depositSettings({ client, accounts, table: config.assets, environment: config.ENVIRONMENT, log }),
    log,
    checks: { ...connections.checks, preparation: startupTasks.check, 'known-event-store': gate.check },
    details: async () => ({ ...clock.details(), ...(await chains.details()) }),
    outages,
    metrics: { registry: metrics, tokens: config.METRICS_TOKEN },
  });
  await app.listen({ port: config.PORT, host: config.HOST });
  clock.start();

  const work = startBackgroundWork({
    connections,
    lags: createLags(metrics),
    metrics,
    environment: config.ENVIRONMENT,
    topicConfig: config,
    startupTasks,
    gate,
    migrations: MIGRATIONS.folder,
    projection: paymentProjection(client, recent),
    moreProjections: [payableProjection(client)],
    startWithoutKafka: () => [
      ...recordAccounts(accounts, startupTasks),
      ...checkAssets(
        { client, db: readModel, table: config.assets, environment: config.ENVIRONMENT, now, log },
        startupTasks,
      ),
      ...checkTransferFees({ assets: config.assets.assets, urls: config.CHAIN_URLS, log }, startupTasks),
      startReading(chains, startupTasks),
      startBooksCheck({ client, db: readModel, databaseUrl: config.DATABASE_URL, metrics, now, log }),
    ],
    publish: { topic: TOPICS.payments.name, messageOf: paymentMessages(client, recent) },
    consume: { ...TOPICS.orders, types: ORDER_MESSAGE_TYPES, handle: reactToOrders({ commands, deletePayments }) },
    log,
  });

  const queries = reports.startQueries({ url: config.DATABASE_URL, waitUntilReady: gate.waitUntilOpen });

  return {
    log,
    close: [() => app.close(), clock.stop, queries.stop, work.stop, () => ordersHttp.close(), ...connections.close],
  };
});

/** Records the decimals of a currency before its first amount. */
function paymentHandler(client: EventStoreDBClient, recent: RecentEvents<Payment, PaymentEvent>): PaymentHandler {
  const decided = commandHandler({
    client,
    decider: paymentDecider,
    schema: PaymentEvent,
    newEvent: NewPaymentEvent,
    streamOf: paymentStreamOf,
    recent,
  });
  return withRecordedScales(decided, {
    client,
    actor: 'service:payments',
    currencyOf: (command) => (command.type === 'ReceivePayment' ? command.currency : null),
  });
}

/** The service is not ready until its accounts are recorded. Meanwhile deposits go on where the account is recorded. */
function recordAccounts(accounts: MerchantAccounts, startupTasks: StartupTasks): [] {
  void startupTasks.run('deposit-accounts', accounts.recordPlatform).catch(() => {});
  return [];
}

/** Ends the process if deposits of recent orders would not be seen. */
function checkAssets(options: AssetsInUseOptions, startupTasks: StartupTasks): [] {
  void startupTasks.runOptional('assets-in-use', () => requireAssetsInUse(options)).catch(() => {});
  return [];
}

/** The service is not ready with a token that keeps a part of each transfer. */
function checkTransferFees(options: TransferFeeOptions, startupTasks: StartupTasks): [] {
  void startupTasks.runOptional('transfer-fees', () => refuseTransferFees(options)).catch(() => {});
  return [];
}

/** The service is not ready before its chains are read: it would refuse their orders. */
function startReading(chains: ReturnType<typeof watchChains>, startupTasks: StartupTasks): Chains {
  const started = chains.start();
  void startupTasks.run('chains', chains.firstLook).catch(() => {});
  return started;
}

/** Lets the operator check that deposits go to the intended wallet. */
function logAccountKeys(networks: readonly DepositNetwork[], log: Logger): void {
  for (const { name, account } of networks) {
    const { fingerprint, depth } = account;
    log.info({ network: name, fingerprint, depth }, 'account key for deposits');
    if (depth !== 3)
      log.warn({ network: name, depth }, 'account key is not at depth 3: check that the wallet finds path 0/i');
  }
}
