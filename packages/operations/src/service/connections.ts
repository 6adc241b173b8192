import { EVENT_STORE, openEventStore } from '@cpg/event-sourcing';
import type { Logger, Outages, ReadinessChecks } from '@cpg/platform';
import { createKafka, createPublisher, KAFKA, type KafkaConnectionConfig, kafkaDependency } from '@cpg/platform/kafka';
import { createPool, databaseDependency, POSTGRES } from '@cpg/platform/postgres';

interface ConnectionsConfig extends KafkaConnectionConfig {
  readonly EVENTSTORE_URL: string;
  readonly DATABASE_URL: string;
  readonly LOG_SHARDS: number;
}

export type Connections = ReturnType<typeof openConnections>;

/** Opens the connections of an event-sourced service: event store, PostgreSQL and Kafka. Each connects at its first use
 *  and reconnects by itself. `name` names the service in logs, in pg_stat_activity, and as Kafka client and consumer
 *  group. */
export const openConnections = (
  config: ConnectionsConfig,
  { name, log, outages }: { name: string; log: Logger; outages: Outages },
) => {
  const databaseUrl = config.DATABASE_URL;
  const store = openEventStore({ url: config.EVENTSTORE_URL, log });
  const readModel = createPool({ url: databaseUrl, name, max: 12, log });
  // Rows of read models and checkpoints commit without waiting for the disk: the log can repeat them.
  const followerPool = createPool({
    url: databaseUrl,
    name: `${name} followers`,
    max: 5,
    asyncCommit: true,
    log,
    // PostgreSQL does not know how long the arrays of rows are, and would plan each statement anew.
    settings: { plan_cache_mode: 'force_generic_plan' },
  });
  const kafka = createKafka(config, { clientId: name, log });
  const checks: ReadinessChecks = {
    postgres: outages.watch(POSTGRES, databaseDependency(readModel)),
    eventstore: outages.watch(EVENT_STORE, { check: store.check }),
  };
  outages.watch(KAFKA, kafkaDependency(kafka));
  return {
    name,
    databaseUrl,
    shards: config.LOG_SHARDS,
    client: store.client,
    readModel,
    followerPool,
    kafka,
    /** The publisher of a relay; the name of its checkpoint is part of its transactional id. */
    publisherFor: (checkpoint: string) => createPublisher(kafka, { transactionalId: `${name}.${checkpoint}` }),
    outages,
    /** Readiness of what every request needs. Kafka is not among them. */
    checks,
    /** Steps to run in this order after all work has stopped. */
    close: [outages.stop, () => readModel.end(), () => followerPool.end(), store.close] satisfies (() => unknown)[],
  };
};
