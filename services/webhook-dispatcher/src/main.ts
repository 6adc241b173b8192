import {
  createAddressMatcher,
  createClockGuard,
  createServiceLog,
  createServiceMetrics,
  createStartGate,
  internalClient,
  type Outages,
  runService,
  secretBox,
  wallClock,
} from '@cpg/platform';
import { createKafka, KAFKA, kafkaDependency } from '@cpg/platform/kafka';
import { databaseClocks, databaseDependency, POSTGRES } from '@cpg/platform/postgres';
import { buildApp } from './app.ts';
import { createBackground } from './background.ts';
import { type Config, readDispatcherConfig } from './config.ts';
import { ENDPOINT_LIMITS } from './attempts/endpoint.ts';
import { createSender, type Sender } from './attempts/send.ts';
import { createMetrics } from './metrics.ts';
import { openPool } from './queue/queue-table.ts';
import { historyClient } from './replay/past-events.ts';
import { createDirectory } from './webhooks/directory.ts';

/** How long attempts in flight may take when the service stops. `runService` ends the process after 9 s. */
const STOP_WITHIN_MS = 6_500;

await runService(async () => {
  const config = readDispatcherConfig(process.env);
  const { log, outages } = createServiceLog({ name: 'webhook-dispatcher', level: config.LOG_LEVEL });
  const now = wallClock;

  const pool = openPool(config.DATABASE_URL, { max: 8, log });
  const webhooks = createDirectory({ pool, box: secretBox(config.WEBHOOK_ENCRYPTION_KEY), now });
  const sender = openSender(config, now);
  const historyServices = connectHistoryServices(config, outages);
  if (!historyServices) log.info('replays are disabled: ORDERS_URL and PAYMENTS_URL are not set');

  const kafka = createKafka(config, { clientId: 'webhook-dispatcher', log });
  outages.watch(KAFKA, kafkaDependency(kafka));

  const registry = createServiceMetrics(outages);
  const clock = createClockGuard({ now, ...databaseClocks(pool), metrics: registry, log });
  const gate = createStartGate();
  const background = createBackground({
    config,
    gate,
    pool,
    sender,
    webhooks,
    now,
    // The time by which leases and kept data end: 1970 while the clock is not trusted.
    endsBy: clock.endsBy,
    log,
    kafka,
    wait: outages.wait,
    history: historyServices && historyClient(historyServices),
    onRecorded: (results) => metrics.observe(results),
    registry,
  });
  const metrics = createMetrics({
    registry,
    db: pool,
    counts: background.counts,
    endpoints: background.endpoints,
    now,
  });
  const app = buildApp({
    tokens: { gateway: config.GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN },
    gate,
    outages,
    metrics: { registry, tokens: config.METRICS_TOKEN },
    log,
    checks: {
      postgres: outages.watch(POSTGRES, databaseDependency(pool)),
      start: async () => background.instance(),
      kafka: background.checkConsumer,
    },
    details: async () => clock.details(),
    routes: {
      pool,
      webhooks,
      ingest: (batch) => background.instance().ingest(batch),
      startReplay: async (request) => background.instance().startReplay(request),
      eventsUntil: () => background.instance().eventsUntil(),
      isSandbox: config.ENVIRONMENT === 'sandbox',
      now,
    },
  });
  await app.listen({ port: config.PORT, host: config.HOST });
  clock.start();
  background.start();

  return {
    log,
    close: [
      outages.stop,
      clock.stop,
      () => background.stop(STOP_WITHIN_MS),
      () => app.close(),
      () => sender.close(),
      () => Promise.all([historyServices?.orders.close(), historyServices?.payments.close()]),
      () => pool.end(),
    ],
  };
});

/** Sends to the endpoints that the operator allows. */
function openSender(config: Config, now: () => Date): Sender {
  return createSender({
    allowLocal: config.WEBHOOK_ALLOW_LOCAL,
    isAllowed: createAddressMatcher(config.WEBHOOK_ALLOW_ADDRESSES ?? []),
    allowedPorts: config.WEBHOOK_ALLOW_PORTS ?? [],
    proxy: config.WEBHOOK_PROXY_URL === undefined ? undefined : new URL(config.WEBHOOK_PROXY_URL),
    connections: ENDPOINT_LIMITS.concurrency.max,
    now,
  });
}

/** Clients of the services that own the streams of past events, for replays. Undefined if they are not configured. */
function connectHistoryServices(
  {
    ORDERS_URL,
    PAYMENTS_URL,
    WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN: forOrders = [],
    WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN: forPayments = [],
  }: Config,
  outages: Outages,
) {
  if (ORDERS_URL === undefined || PAYMENTS_URL === undefined) return undefined;
  return {
    orders: internalClient({ name: 'orders', url: ORDERS_URL, tokens: forOrders, outages }),
    payments: internalClient({ name: 'payments', url: PAYMENTS_URL, tokens: forPayments, outages }),
  };
}
