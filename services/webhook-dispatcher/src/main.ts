import { join } from 'node:path';
import { type DomainMessage, TOPICS } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import { consume, type RunningConsumer, createKafka, ensureTopics, type ConsumedTopic } from '@cpg/kafka';
import { isTransientDatabaseError, startLeaderElection, migrate } from '@cpg/postgres';
import {
  createAddressMatcher,
  createLogger,
  internalClient,
  createStartupTasks,
  runService,
  secretBox,
} from '@cpg/runtime';
import { buildApp } from './app.ts';
import { historyClient } from './clients/history.ts';
import { type Config, readDispatcherConfig } from './config.ts';
import { ENDPOINT_LIMITS } from './delivery/endpoint.ts';
import { type Instance, startInstance } from './delivery/instance.ts';
import { createSender } from './delivery/send.ts';
import { maintain } from './maintenance.ts';
import { createMetrics } from './metrics.ts';
import { deliverEvents } from './reactions/events.ts';
import { together } from './reactions/together.ts';
import { openPool } from './storage/pool.ts';
import { createDirectory } from './webhooks/directory.ts';

/** Attempts in flight have this long to end when the service stops. */
const STOP_WITHIN_MS = 6_500;

await runService(async () => {
  const config = readDispatcherConfig(process.env);
  const log = createLogger({ name: 'webhook-dispatcher', level: config.LOG_LEVEL });
  const now = () => new Date();
  const retention = { metadataDays: config.WEBHOOK_RETENTION_DAYS, bodyDays: config.WEBHOOK_BODY_RETENTION_DAYS };

  const pool = openPool(config.DATABASE_URL, { max: 8, log });
  const kafka = createKafka(config, { clientId: 'webhook-dispatcher', log });
  const webhooks = createDirectory({ pool, box: secretBox(config.WEBHOOK_ENCRYPTION_KEY), now });
  const sender = createSender({
    allowLocal: config.WEBHOOK_ALLOW_LOCAL,
    isAllowed: createAddressMatcher(config.WEBHOOK_ALLOW_ADDRESSES ?? []),
    proxy: config.WEBHOOK_PROXY_URL === undefined ? undefined : new URL(config.WEBHOOK_PROXY_URL),
    connections: ENDPOINT_LIMITS.maxSlots,
    now,
  });

  const past = pastServices(config);
  if (!past) log.info('there are no replays: ORDERS_URL and PAYMENTS_URL are not set');

  let instance: Instance | undefined;
  let consumption: RunningConsumer | undefined;
  let maintenance: ReturnType<typeof startLeaderElection> | undefined;
  const started = (): Instance => {
    if (!instance) throw new AppError('dependency_unavailable', 'the dispatcher is still starting: try again');
    return instance;
  };

  const metrics = createMetrics({
    db: pool,
    counts: () => instance?.counts() ?? { held: 0, inFlight: 0, unrecorded: 0 },
    endpoints: () => instance?.endpoints() ?? [],
    now,
  });
  const app = buildApp({
    token: config.INTERNAL_TOKEN,
    metrics,
    log,
    checks: {
      database: () => pool.query('select 1'),
      start: async () => started(),
      kafka: async () => {
        if (!consumption) throw new Error('not consuming yet');
        await consumption.ready();
      },
    },
    routes: {
      pool,
      webhooks,
      takeIn: (arrival) => started().takeIn(arrival),
      replay: async (request) => started().replay(request),
      isSandbox: config.ENVIRONMENT === 'sandbox',
      now,
    },
  });
  await app.listen({ port: config.PORT, host: config.HOST });

  const prepared = createStartupTasks(log);
  const start = async () => {
    const folder = join(import.meta.dirname, '../migrations');
    await prepared.run('migrations', () => migrate(pool, { schema: 'webhooks', folder }));
    await prepared.run('webhooks of the gateway', () => webhooks.load(['']));
    const topics = [TOPICS.orders, TOPICS.payments] as ConsumedTopic<DomainMessage>[];
    await prepared.run('topics', () =>
      ensureTopics(
        kafka,
        topics.map(({ name }) => name),
        { partitions: config.KAFKA_PARTITIONS, replication: config.KAFKA_REPLICATION },
      ),
    );
    const running = await prepared.run('instance', () =>
      startInstance({
        pool,
        sender,
        webhooks,
        schedule: config.WEBHOOK_RETRY_SECONDS,
        retention,
        history: past && historyClient(past),
        now,
        random: Math.random,
        log,
        onRecorded: metrics.observe,
      }),
    );
    instance = running;
    maintenance = startLeaderElection({
      url: config.DATABASE_URL,
      role: 'webhook maintenance',
      log,
      lead: (signal) =>
        maintain(
          {
            pool,
            partitions: running.partitions,
            webhooks,
            retention,
            disableAfterMs: config.WEBHOOK_DISABLE_AFTER_HOURS * 3_600_000,
            now,
            log,
          },
          signal,
        ),
    });
    consumption = consume({
      kafka,
      groupId: 'webhook-dispatcher',
      topics,
      handle: together(deliverEvents({ webhooks, takeIn: running.takeIn, retention, now, log })),
      isTransientError: isTransientDatabaseError,
      log,
    });
  };
  const starting = start().catch(() => {});

  return {
    log,
    close: [
      prepared.stop,
      () => starting,
      () => Promise.all([consumption?.stop(), maintenance?.stop(), instance?.stop(STOP_WITHIN_MS)]),
      () => app.close(),
      () => sender.close(),
      () => Promise.all([past?.orders.close(), past?.payments.close()]),
      () => pool.end(),
    ],
  };
});

/** The services that tell what happened; none for a dispatcher that is used alone. */
function pastServices({ ORDERS_URL, PAYMENTS_URL, INTERNAL_TOKEN: token }: Config) {
  if (ORDERS_URL === undefined || PAYMENTS_URL === undefined) return undefined;
  return {
    orders: internalClient({ name: 'orders', url: ORDERS_URL, token }),
    payments: internalClient({ name: 'payments', url: PAYMENTS_URL, token }),
  };
}
