import { AppError, ResourceMessage, TOPICS } from '@cpg/contracts';
import { consume, type ConsumedTopic, ensureTopics, type RunningConsumer, topicSettingsOf } from '@cpg/platform/kafka';
import { isTransientDatabaseError, type Pool, prepareSchema, startLeaderElection } from '@cpg/platform/postgres';
import { createStartupTasks, type Logger, type MetricsRegistry, type StartGate, type Wait } from '@cpg/platform';
import type { Kafka } from 'kafkajs';
import type { History } from './replay/past-events.ts';
import type { Config } from './config.ts';
import { type Instance, startInstance } from './instance.ts';
import type { Sender } from './attempts/send.ts';
import { maintain } from './maintenance/maintenance.ts';
import type { Metrics } from './metrics.ts';
import { MIGRATIONS } from './migrations.ts';
import { batchCalls, deliverEvents } from './ingest/deliver-events.ts';
import { keepDeliveryCounts } from './maintenance/delivery-counts.ts';
import type { Retention } from './queue/partitions.ts';
import type { Directory } from './webhooks/directory.ts';

export interface BackgroundOptions {
  readonly config: Config;
  /** Opens once the database belongs to the environment. */
  readonly gate: StartGate;
  readonly pool: Pool;
  readonly kafka: Kafka;
  readonly sender: Sender;
  readonly webhooks: Directory;
  readonly history: History | undefined;
  readonly onRecorded: Metrics['observe'];
  readonly registry: MetricsRegistry;
  readonly now: () => Date;
  /** The time by which retention and webhooks end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  /** Waits between attempts. */
  readonly wait: Wait;
  readonly log: Logger;
}

/** Everything that runs besides HTTP: the dispatcher instance, the Kafka consumer and maintenance. `start` prepares the
 *  database and topics first and retries each step until it succeeds, so that HTTP can answer meanwhile. */
export const createBackground = (options: BackgroundOptions) => {
  const { config, log } = options;
  const retention = { metadataDays: config.WEBHOOK_RETENTION_DAYS, bodyDays: config.WEBHOOK_BODY_RETENTION_DAYS };
  const startupTasks = createStartupTasks(log);
  let instance: Instance | undefined;
  let consumption: RunningConsumer | undefined;
  let maintenance: ReturnType<typeof startLeaderElection> | undefined;
  let starting = Promise.resolve();

  const start = async () => {
    await prepare(startupTasks.run, options);
    instance = await startupTasks.run('instance', () =>
      startInstance({ ...options, schedule: config.WEBHOOK_RETRY_SECONDS, retention, random: Math.random }),
    );
    maintenance = startMaintenance(instance, retention, options);
    consumption = startConsumer(instance, retention, options);
  };
  return {
    start: () => {
      // Rejects only when `stop` aborts it.
      starting = start().catch(() => {});
    },
    /** Throws `dependency_unavailable` before the instance has started. */
    instance: (): Instance => {
      if (!instance) throw new AppError('dependency_unavailable', 'the dispatcher is still starting: try again');
      return instance;
    },
    counts: () => instance?.counts() ?? { leased: 0, inFlight: 0, unrecorded: 0 },
    endpoints: () => instance?.endpoints() ?? [],
    /** Rejects unless the consumer is ready. */
    checkConsumer: async (): Promise<void> => {
      if (!consumption) throw new Error('not consuming yet');
      await consumption.ready();
    },
    /** Attempts in flight have `withinMs` to end. */
    stop: async (withinMs: number): Promise<void> => {
      startupTasks.stop();
      await starting;
      await Promise.all([consumption?.stop(), maintenance?.stop(), instance?.stop(withinMs)]);
    },
  };
};

const topics: ConsumedTopic<ResourceMessage>[] = [TOPICS.orders, TOPICS.payments].map(({ name }) => ({
  name,
  message: ResourceMessage,
}));

const prepare = async (
  run: ReturnType<typeof createStartupTasks>['run'],
  { config, gate, pool, kafka, webhooks, log }: BackgroundOptions,
): Promise<void> => {
  await run('migrations', () => prepareSchema(pool, { ...MIGRATIONS, environment: config.ENVIRONMENT }));
  gate.open();
  await run('webhooks of the gateway', webhooks.checkKeys);
  await run('topics', () =>
    ensureTopics(
      kafka,
      topics.map(({ name }) => name),
      topicSettingsOf(config),
      log,
    ),
  );
};

const startMaintenance = (
  { partitions }: Instance,
  retention: Retention,
  { config, pool, webhooks, now, endsBy, log }: BackgroundOptions,
) => {
  const disableAfterMs = config.WEBHOOK_DISABLE_AFTER_HOURS * 3_600_000;
  return startLeaderElection({
    url: config.DATABASE_URL,
    role: 'webhook maintenance',
    log,
    lead: async (signal) => {
      const schedule = config.WEBHOOK_RETRY_SECONDS;
      const options = { pool, partitions, webhooks, retention, schedule, disableAfterMs, now, endsBy, log };
      const maintenance = maintain(options, signal);
      await Promise.all([maintenance, keepDeliveryCounts(pool, log, signal)]);
    },
  });
};

const startConsumer = (
  { ingest, sawEventsOf }: Instance,
  retention: Retention,
  { config, kafka, webhooks, registry: metrics, endsBy, wait, log }: BackgroundOptions,
): RunningConsumer =>
  consume({
    kafka,
    groupId: 'webhook-dispatcher',
    topics,
    handle: batchCalls(deliverEvents({ webhooks, ingest, retention, endsBy, sawEventsOf, log })),
    // All partitions of a fetch together.
    concurrency: topics.length * config.KAFKA_PARTITIONS,
    isTransientError: isTransientDatabaseError,
    wait,
    metrics,
    log,
  });
