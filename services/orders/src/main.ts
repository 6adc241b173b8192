import { NewOrderEvent, OrderEvent, orderStreamOf, TOPICS } from '@cpg/contracts';
import { type RecentEvents, recentEvents } from '@cpg/event-sourcing';
import { type OpenedService, startEventSourcedService } from '@cpg/operations';
import { counterMetric, type Logger } from '@cpg/platform';
import { buildApp } from './app.ts';
import { finishDeletions, orderDeletion } from './commands/deletion.ts';
import { orderChanges } from './commands/order-changes.ts';
import { orderCommands } from './commands/order-commands.ts';
import { withOrderLog, withTrustedClock } from './commands/order-handler.ts';
import { orderRefunding } from './commands/refund-order.ts';
import { paymentsClient } from './commands/payments-client.ts';
import { type Config, readOrdersConfig } from './config.ts';
import { orderCreation } from './create/create-order.ts';
import { earlierCreates } from './create/create-once.ts';
import { createStock } from './create/stock.ts';
import { payableCurrencies } from './create/payable-currencies.ts';
import { dueOrders, watchDeadlines } from './deadlines/deadlines.ts';
import { unreadChains } from './deadlines/unread-chains.ts';
import { MIGRATIONS } from './migrations.ts';
import { orderDecider } from './order/order.ts';
import type { Order } from './order/state.ts';
import { HANDLED_PAYMENT_MESSAGES, reactToPayments } from './payments/reaction.ts';
import { type AcceptedPrices, acceptedPrices } from './rates/accepted-prices.ts';
import { marketRates } from './rates/market.ts';
import { publicSources } from './rates/sources/public.ts';
import { readRateTable, tableRates } from './rates/table.ts';
import { orderHistory } from './read/history.ts';
import { orderMessages } from './read/messages.ts';
import { orderProjection, orderWriter } from './read/order-projection.ts';
import { readUrl } from './rates/sources/source.ts';
import { followAvailability, followDepositSettings, readDepositSettings, toleranceBpsIn } from './create/followed.ts';
import { findPayables } from './create/payables.ts';

const ENDED_UNREAD = {
  name: 'orders_ended_unread_total',
  help: 'Orders that ended 24 hours after their deadline, although their network was not read, a deposit not recorded or their provider silent',
  labelNames: ['network'] as const,
};

await startEventSourcedService('orders', readOrdersConfig, (opened, config) => {
  const { client, readModel, followerPool, outages, metrics, clock, now, log } = opened;
  const { endsBy } = clock;
  const recent = recentEvents<Order, OrderEvent>();
  const handler = orderHandler(opened, recent);
  const payments = paymentsClient(
    opened.peer({ name: 'payments', url: config.PAYMENTS_URL, tokens: config.ORDERS_TO_PAYMENTS_TOKEN }),
  );

  const readSettings = readDepositSettings(client);
  const settings = followDepositSettings(readSettings);
  const networks = followAvailability(payments.availability);
  const stock = createStock({
    assets: config.assets,
    settings: settings.current,
    isAvailable: networks.isAvailable,
    lease: payments.leaseStock,
    log,
  });
  const market = publicMarket(config, acceptedPrices(readModel), now, log);
  const known = config.assets.networks.map(({ name }) => ({ network: name }));
  const endedUnread = counterMetric(metrics, { ...ENDED_UNREAD, known });
  const project = orderWriter(followerPool);
  const commands = orderCommands({ handler, project, payments, log });
  const shared = {
    payablesOf: findPayables({ stock, payments }),
    rates: market ?? tableRates(readRateTable(config.RATES_FILE)),
    rateLockMaxMinutes: config.RATE_LOCK_MAX_MINUTES,
    assets: config.assets,
    scales: config.scales,
    now,
    endsBy,
  };
  const create = orderCreation({
    ...shared,
    handler,
    project,
    earlierCreates: earlierCreates(client),
    toleranceBpsOf: toleranceBpsIn(settings, readSettings),
  });
  const awaitsChains = unreadChains({ payments, now, log, countUnread: (network) => endedUnread({ network }) });
  const runDue = dueOrders({ ...shared, commands, awaitsChains });
  const deletion = orderDeletion({ client, handler, readModel, payments });

  return {
    app: buildApp({
      ...opened.http,
      tokens: {
        gateway: config.GATEWAY_TO_ORDERS_TOKEN,
        payments: config.PAYMENTS_TO_ORDERS_TOKEN,
        'webhook-dispatcher': config.WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN,
        admin: config.ADMIN_TO_ORDERS_TOKEN,
      },
      create,
      currencies: payableCurrencies({ ...shared, availability: payments.availability }),
      commands,
      handler,
      changes: orderChanges({ ...shared, commands, handler, payments }),
      deletion,
      refundOrder: orderRefunding({ commands, handler, payments, now, log }),
      runDue,
      history: orderHistory({ client, readModel }),
      sandbox: config.ENVIRONMENT === 'sandbox',
      now,
    }),
    migrations: MIGRATIONS.folder,
    projection: orderProjection(client, recent),
    beforeProjecting: finishDeletions(client, deletion),
    startWithoutKafka: () => [
      settings.start(),
      networks.start(),
      ...(market ? [market.start()] : []),
      watchDeadlines({ readModel, handler, runDue, now, endsBy, wait: outages.wait, log }),
    ],
    publish: { topic: TOPICS.orders.name, messageOf: orderMessages(client, recent) },
    consume: {
      ...TOPICS.payments,
      types: HANDLED_PAYMENT_MESSAGES,
      handle: reactToPayments({ commands, payments, now }),
    },
  };
});

/** Decides and records the commands of orders. */
function orderHandler({ commandHandler, clock, log }: OpenedService, recent: RecentEvents<Order, OrderEvent>) {
  const handler = commandHandler({
    decider: withTrustedClock(orderDecider, clock.isPaused),
    schema: OrderEvent,
    newEvent: NewOrderEvent,
    streamOf: orderStreamOf,
    scaleOf: (command) => (command.type === 'CreateOrder' ? command : null),
    recent,
  });
  return withOrderLog(handler, log);
}

/** Rates from public sources; null where the configuration asks for the fixed table of a sandbox. */
function publicMarket(config: Config, accepted: AcceptedPrices, now: () => Date, log: Logger) {
  const { RATES, ENVIRONMENT, FIXED_USD_PRICES, RATE_MAX_AGES, RATE_SOURCES } = config;
  const source = RATES ?? (ENVIRONMENT === 'production' ? 'market' : 'table');
  if (source === 'table') return null;
  return marketRates({
    sources: publicSources(RATE_MAX_AGES ?? new Map()),
    fixed: FIXED_USD_PRICES ?? new Map(),
    ...(RATE_SOURCES && { sourcesOf: RATE_SOURCES }),
    accepted,
    read: readUrl,
    now,
    log,
  });
}
