import { NewPaymentEvent, PaymentEvent, TOPICS } from '@cpg/contracts';
import { type RecentEvents, recentEvents } from '@cpg/event-sourcing';
import { type OpenedService, startEventSourcedService } from '@cpg/operations';
import type { Logger } from '@cpg/platform';
import type { DepositNetwork } from './addresses/deposit-network.ts';
import { depositSettings } from './addresses/merchant-settings.ts';
import { buildApp } from './app.ts';
import { startBooksCheck } from './books/books-check.ts';
import { refuseTransferFees } from './chains/evm/transfer-fees.ts';
import { networkAvailability } from './chains/network-availability.ts';
import { watchChains } from './chains/watch-chains.ts';
import { type Config, readPaymentsConfig } from './config.ts';
import { paymentHistory } from './history.ts';
import { paymentChanges } from './matching/changes.ts';
import { paymentCommands, withPaymentLog } from './matching/commands.ts';
import { orderNotifier, type OrdersClient, ordersClient } from './matching/notify-order.ts';
import { ORDER_MESSAGE_TYPES, reactToOrders } from './matching/order-decisions.ts';
import { type MatchingOptions, registerPayments } from './matching/register.ts';
import { unclaimedMetrics } from './matching/unclaimed-payments.ts';
import { paymentMessages } from './messages.ts';
import { MIGRATIONS } from './migrations.ts';
import { requireAssetsInUse } from './payables/assets-in-use.ts';
import { type FindPayable, findPayable } from './payables/find-payable.ts';
import { payableProjection } from './payables/payable-projection.ts';
import { findOrder, hadFailedAtDeletion, isOrderRecorded } from './payables/payable.ts';
import { paymentStreamOf } from './payment/identity.ts';
import { paymentDecider } from './payment/payment.ts';
import type { Payment } from './payment/state.ts';
import { pageAddresses } from './rails/gateway-pay/page-addresses.ts';
import { providerReports } from './rails/gateway-pay/provider-reports.ts';
import { openRails } from './rails/open-rails.ts';
import { paymentDeletion } from './read/deletion.ts';
import { ledgerKeeper } from './read/kept-ledger.ts';
import { paymentProjection } from './read/payment-projection.ts';
import { paymentIdsOf, paymentWriter, unsettledPaymentOf } from './read/payment-rows.ts';
import { refundClaims } from './refunds/refund-claims.ts';
import { refundDestinations } from './refunds/refund-destination.ts';
import { orderRefunds } from './refunds/order-refunds.ts';
import { requestedRefunds } from './refunds/requested-refunds.ts';

await startEventSourcedService('payments', readPaymentsConfig, (opened, config) => {
  const { client, readModel, followerPool, metrics, clock, now, log } = opened;
  logAccountKeys(config.networks, log);
  const recent = recentEvents<Payment, PaymentEvent>();
  const handler = paymentHandler(opened, recent);
  const commands = paymentCommands({ handler, project: paymentWriter(followerPool) });
  const deletePayments = paymentDeletion({ client, handler, readModel, keepLedger: ledgerKeeper({ client, now }) });
  const orders = ordersClient(
    opened.peer({ name: 'orders', url: config.ORDERS_URL, tokens: config.PAYMENTS_TO_ORDERS_TOKEN }),
  );
  unclaimedMetrics(metrics, readModel);
  const availability = networkAvailability({ config, db: readModel, now });
  const { read: readNetworks } = availability;
  const { accounts, providers, ...rails } = openRails({ config, client, readModel, readNetworks, now });
  const payableAt = findPayable({ client, readModel, log });
  const { register, changes, notifyOrder } = openMatching(opened, config, { commands, orders, payableAt });
  const refundsOfOrders = orderRefunds({ commands, notifyOrder, now, log });
  const chains = watchChains({
    config,
    client,
    pool: readModel,
    accounts,
    findPayable: payableAt,
    availability,
    register,
    fail: changes.fail,
    changeRefund: changes.changeRefund,
    findPayment: commands.find,
    metrics,
    now,
    endsBy: clock.endsBy,
    log,
  });
  const reports = providerReports({ providers: providers.outside, register, readModel, orders, metrics, now, log });
  const { assets: table, ENVIRONMENT: environment } = config;
  const destinations = refundDestinations({ db: readModel, readAccounts: accounts.read, table });

  return {
    app: buildApp({
      ...opened.http,
      details: async () => ({ ...clock.details(), ...(await chains.details()) }),
      tokens: {
        gateway: config.GATEWAY_TO_PAYMENTS_TOKEN,
        orders: config.ORDERS_TO_PAYMENTS_TOKEN,
        'webhook-dispatcher': config.WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN,
        admin: config.ADMIN_TO_PAYMENTS_TOKEN,
      },
      sandbox: environment === 'sandbox',
      ...rails,
      register,
      receiveCallback: reports.receiveCallback,
      askLast: reports.askLast,
      pageAddresses: pageAddresses({
        client,
        findPayable: payableAt,
        readAccounts: accounts.read,
        table,
        metrics,
        log,
      }),
      changes,
      orderRefunds: refundsOfOrders,
      requestedRefunds: requestedRefunds({
        commands,
        notifyOrder,
        db: readModel,
        destinations,
        table,
        isWatched: (network) => config.CHAIN_URLS[network] !== undefined,
        now,
      }),
      refundClaims: refundClaims({
        commands,
        db: readModel,
        destinations,
        table,
        publicUrl: config.PUBLIC_URL,
        now,
        endsBy: clock.endsBy,
      }),
      commands,
      deletePayments,
      unsettledPayment: (orderId, heldByOrder) => unsettledPaymentOf(readModel, orderId, heldByOrder),
      paymentIdsOf: (orderId) => paymentIdsOf(readModel, orderId),
      readStatusOf: chains.readStatusOf,
      history: paymentHistory({ client, readModel }),
      depositSettings: depositSettings({ client, accounts, table, environment, log }),
    }),
    migrations: MIGRATIONS.folder,
    projection: paymentProjection(client, recent),
    moreProjections: [payableProjection(client)],
    startWithoutKafka: () => startOwnWork(opened, config, { accounts, chains, reports }),
    publish: { topic: TOPICS.payments.name, messageOf: paymentMessages(client, recent) },
    consume: {
      ...TOPICS.orders,
      types: ORDER_MESSAGE_TYPES,
      handle: reactToOrders({ commands, deletePayments, recordOrderRefund: refundsOfOrders.record }),
    },
  };
});

/** Decides and records the commands of payments. */
function paymentHandler({ commandHandler, log }: OpenedService, recent: RecentEvents<Payment, PaymentEvent>) {
  const handler = commandHandler({
    decider: paymentDecider,
    schema: PaymentEvent,
    newEvent: NewPaymentEvent,
    streamOf: paymentStreamOf,
    // The first amount of a payment: the decimals of its currency are recorded before it.
    scaleOf: (command) => (command.type === 'ReceivePayment' ? command : null),
    recent,
  });
  return withPaymentLog(handler, log);
}

/** Records new payments and their changes, and reports them to orders. */
function openMatching(
  { client, now, log }: OpenedService,
  { fees, scales, assets: table }: Config,
  { commands, orders, payableAt }: Pick<MatchingOptions, 'commands'> & { orders: OrdersClient; payableAt: FindPayable },
) {
  const notifyOrder = orderNotifier({
    commands,
    orders,
    isOrderRecorded: (orderId) => isOrderRecorded(client, orderId),
    now,
  });
  const register = registerPayments({
    commands,
    notifyOrder,
    findPayable: payableAt,
    fees,
    scales,
    now,
    findOrder: (orderId) => findOrder(client, orderId),
    hadFailedAtDeletion: (...payment) => hadFailedAtDeletion(client, ...payment),
  });
  return { register, changes: paymentChanges({ commands, notifyOrder, table, now, log }), notifyOrder };
}

/** Starts the work of payments besides its projections and messages. Returns the parts to stop. */
function startOwnWork(
  { client, readModel, metrics, startupTasks, gate, now, log }: OpenedService,
  config: Config,
  {
    accounts,
    chains,
    reports,
  }: {
    accounts: ReturnType<typeof openRails>['accounts'];
    chains: ReturnType<typeof watchChains>;
    reports: ReturnType<typeof providerReports>;
  },
) {
  const { assets: table, ENVIRONMENT: environment, DATABASE_URL: databaseUrl } = config;
  // The service is not ready until its accounts are recorded. Meanwhile deposits go on where they are.
  watch(startupTasks.run('deposit-accounts', accounts.recordPlatform));
  // The service is ready without it. Ends the process if deposits of recent orders would not be seen.
  const inUse = { client, db: readModel, table, environment, now, log };
  watch(startupTasks.runOptional('assets-in-use', () => requireAssetsInUse(inUse)));
  // The service is ready without it, but not once it found a token that keeps a part of each transfer.
  const fees = { assets: table.assets, urls: config.CHAIN_URLS, log };
  watch(startupTasks.runOptional('transfer-fees', () => refuseTransferFees(fees)));
  const reading = chains.start();
  // The service is not ready before its chains are read: it would refuse their orders.
  watch(startupTasks.run('chains', chains.firstLook));
  return [
    reading,
    startBooksCheck({ client, db: readModel, databaseUrl, metrics, now, log }),
    reports.startQueries({ url: databaseUrl, waitUntilReady: gate.waitUntilOpen }),
  ];
}

/** Readiness reports a startup task that fails. */
function watch(task: Promise<unknown>): void {
  task.catch(() => {});
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
