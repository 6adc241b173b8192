import type { DomainMessage } from '@cpg/contracts';
import { type ConsumedTopic, consume, ensureTopics, type TopicConfig, topicSettingsOf } from '@cpg/kafka';
import { isTransientDatabaseError, migrate } from '@cpg/postgres';
import type { Logger, StartupTasks } from '@cpg/runtime';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import type { Connections } from './connections.ts';
import { type Projection, startProjection } from './projection.ts';
import { rebuildOutdated } from './rebuild-outdated.ts';
import { type RelayOptions, startRelay } from './relay.ts';

export interface Stoppable {
  readonly stop: () => Promise<void>;
}

export interface BackgroundWork<M extends DomainMessage> {
  readonly connections: Connections;
  readonly topicConfig: TopicConfig;
  readonly startupTasks: StartupTasks;
  /** Folder of the service's migrations. */
  readonly migrations: string;
  readonly projection: Projection;
  /** Runs on each batch before it is projected. Must be idempotent. */
  readonly beforeProjecting?: (events: AllStreamResolvedEvent[]) => Promise<void>;
  /** Starts further work that needs the database but not Kafka. */
  readonly startWithoutKafka?: () => Stoppable[];
  readonly publish: Pick<RelayOptions, 'topic' | 'messageOf'>;
  readonly consume: ConsumedTopic<M> & { readonly handle: (messages: M[]) => Promise<void> };
  readonly log: Logger;
}

/** Starts the background work of an event-sourced service: migrations, then its projection; once the Kafka topics
 *  exist, its relay and its consumer. Returns at once and retries each step until it succeeds, so the service accepts
 *  requests during a Kafka outage. */
export const startBackgroundWork = <M extends DomainMessage>(work: BackgroundWork<M>): Stoppable => {
  const { startupTasks, connections, migrations, projection, topicConfig, publish, consume: consumed, log } = work;
  const migrated = startupTasks.run('migrations', () =>
    migrate(connections.readModel, { schema: projection.schema, folder: migrations }),
  );
  const topicsCreated = startupTasks.runOptional('topics', () =>
    ensureTopics(connections.kafka, [publish.topic, consumed.name], topicSettingsOf(topicConfig), log),
  );
  // Startup tasks reject only when they are stopped; then nothing was started.
  const started = [
    migrated.then(() => startDatabaseWork(work)),
    Promise.all([migrated, topicsCreated]).then(() => startKafkaWork(work)),
  ].map((parts) => parts.catch(() => []));
  return {
    stop: async () => {
      startupTasks.stop();
      const parts = (await Promise.all(started)).flat();
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
};

const startDatabaseWork = <M extends DomainMessage>(work: BackgroundWork<M>): Stoppable[] => {
  const { projection, migrations, beforeProjecting, startWithoutKafka = () => [] } = work;
  return [
    startProjection({ ...subscriptionOf(work), projection, ...(beforeProjecting && { beforeProjecting }) }),
    rebuildOutdated({ ...subscriptionOf(work), projection, migrations }),
    ...startWithoutKafka(),
  ];
};

const startKafkaWork = <M extends DomainMessage>(work: BackgroundWork<M>): Stoppable[] => {
  const { connections, projection, publish, log } = work;
  const { schema, prefixes } = projection;
  const { kafka, publisher, name } = connections;
  const { handle, ...topic } = work.consume;
  return [
    startRelay({ ...subscriptionOf(work), ...publish, schema, prefixes, publisher }),
    consume({
      kafka,
      groupId: name,
      topics: [topic],
      handle,
      isTransientError: isTransientDatabaseError,
      // Callers that wait were answered by a direct call, so messages may wait to be fetched together.
      preferThroughput: true,
      log,
    }),
  ];
};

const subscriptionOf = <M extends DomainMessage>({ connections, log }: BackgroundWork<M>) => {
  const { client, followerPool: pool, databaseUrl } = connections;
  return { client, pool, databaseUrl, log };
};
