import { createKafka } from '@cpg/kafka';
import {
  createAddressMatcher,
  createLogger,
  createStartGate,
  internalClient,
  runService,
  secretBox,
} from '@cpg/runtime';
import { buildApp } from './app.ts';
import { createBackground } from './background.ts';
import { historyClient } from './clients/history.ts';
import { type Config, readDispatcherConfig } from './config.ts';
import { ENDPOINT_LIMITS } from './delivery/endpoint.ts';
import { createSender } from './delivery/send.ts';
import { createMetrics } from './metrics.ts';
import { openPool } from './storage/pool.ts';
import { createDirectory } from './webhooks/directory.ts';

/** How long attempts in flight may take when the service stops. */
const STOP_WITHIN_MS = 6_500;

await runService(async () => {
  const config = readDispatcherConfig(process.env);
  const log = createLogger({ name: 'webhook-dispatcher', level: config.LOG_LEVEL });
  const now = () => new Date();

  const pool = openPool(config.DATABASE_URL, { max: 8, log });
  const webhooks = createDirectory({ pool, box: secretBox(config.WEBHOOK_ENCRYPTION_KEY), now });
  const sender = createSender({
    allowLocal: config.WEBHOOK_ALLOW_LOCAL,
    isAllowed: createAddressMatcher(config.WEBHOOK_ALLOW_ADDRESSES ?? []),
    proxy: config.WEBHOOK_PROXY_URL === undefined ? undefined : new URL(config.WEBHOOK_PROXY_URL),
    connections: ENDPOINT_LIMITS.concurrency.max,
    now,
  });
  const historyServices = connectHistoryServices(config);
  if (!historyServices) log.info('replays are disabled: ORDERS_URL and PAYMENTS_URL are not set');

  const gate = createStartGate();
  const background = createBackground({
    ...{ config, gate, pool, sender, webhooks, now, log },
    kafka: createKafka(config, { clientId: 'webhook-dispatcher', log }),
    history: historyServices && historyClient(historyServices),
    onRecorded: (results) => metrics.observe(results),
  });
  const metrics = createMetrics({ db: pool, counts: background.counts, endpoints: background.endpoints, now });
  const app = buildApp({
    token: config.INTERNAL_TOKEN,
    gate,
    metrics,
    log,
    checks: {
      database: () => pool.query('select 1'),
      start: async () => background.instance(),
      kafka: background.checkConsumer,
    },
    routes: {
      pool,
      webhooks,
      ingest: (batch) => background.instance().ingest(batch),
      startReplay: async (request) => background.instance().startReplay(request),
      isSandbox: config.ENVIRONMENT === 'sandbox',
      now,
    },
  });
  await app.listen({ port: config.PORT, host: config.HOST });
  background.start();

  return {
    log,
    close: [
      () => background.stop(STOP_WITHIN_MS),
      () => app.close(),
      () => sender.close(),
      () => Promise.all([historyServices?.orders.close(), historyServices?.payments.close()]),
      () => pool.end(),
    ],
  };
});

/** Clients of the services that know past events, for replays. Undefined if they are not configured. */
function connectHistoryServices({ ORDERS_URL, PAYMENTS_URL, INTERNAL_TOKEN: token }: Config) {
  if (ORDERS_URL === undefined || PAYMENTS_URL === undefined) return undefined;
  return {
    orders: internalClient({ name: 'orders', url: ORDERS_URL, token }),
    payments: internalClient({ name: 'payments', url: PAYMENTS_URL, token }),
  };
}
