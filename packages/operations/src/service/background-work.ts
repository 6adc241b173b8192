import { type DomainMessage, scalesOf } from '@cpg/contracts';
import {
  createLags,
  guardAppends,
  type Lags,
  type Projection,
  type RelayOptions,
  startProjection,
  startRelay,
  type StoreWatch,
  watchStore,
} from '@cpg/event-sourcing';
import type { Logger, MetricsRegistry, StartGate, StartupTasks } from '@cpg/platform';
import { consume, type ConsumedTopic, ensureTopics, type TopicConfig, topicSettingsOf } from '@cpg/platform/kafka';
import { type Environment, isTransientDatabaseError, prepareSchema } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { ensureVersion, rebuildOutdated } from '../read-models/rebuild.ts';
import type { Connections } from './connections.ts';
import { requireEnvironment, requireOwnStore } from './own-store.ts';
import { requireRecordedScales } from './currency-scales.ts';

interface Stoppable {
  readonly stop: () => Promise<void>;
}

export interface BackgroundWork<M extends DomainMessage> {
  /** Folder of the service's migrations. */
  readonly migrations: string;
  readonly projection: Projection;
  /** Further read models in the same schema. */
  readonly moreProjections?: readonly Projection[];
  /** Runs on each batch of the first projection before it is projected. Must be idempotent. */
  readonly beforeProjecting?: (events: AllStreamResolvedEvent[]) => Promise<void>;
  /** Starts further work that needs the database but not Kafka. */
  readonly startWithoutKafka?: () => Stoppable[];
  readonly publish: Pick<RelayOptions, 'topic' | 'messageOf'>;
  readonly consume: ConsumedTopic<M> & { readonly handle: (messages: M[]) => Promise<void> };
}

interface Opened {
  readonly connections: Connections;
  readonly startupTasks: StartupTasks;
  readonly metrics: MetricsRegistry;
  /** Opens once schema and event store belong to the environment. */
  readonly gate: StartGate;
  readonly log: Logger;
}

type Config = TopicConfig & { readonly ENVIRONMENT: Environment; readonly CAZ_DECIMALS: number };

interface Work<M extends DomainMessage> extends BackgroundWork<M>, Opened {
  readonly config: Config;
  readonly lags: Lags;
}

/** Starts the background work of an event-sourced service: migrations and the check of its environment, then its
 *  projection; once the Kafka topics exist, its relay and its consumer. Returns at once and retries each step until it
 *  succeeds, so the service accepts requests during a Kafka outage. */
export const startBackgroundWork = <M extends DomainMessage>(
  opened: Opened,
  config: Config,
  parts: BackgroundWork<M>,
): Stoppable => {
  const work: Work<M> = { ...opened, ...parts, config, lags: createLags(opened.metrics) };
  const { startupTasks, connections, publish, consume: consumed, log } = work;
  let store: StoreWatch | undefined;
  const prepared = startupTasks.run('migrations', async () => {
    await prepareOwnSchema(work);
    store ??= watchOwnStore(work);
    await prepareStore(work, store);
    return store;
  });
  const topicsCreated = prepared.then(() =>
    startupTasks.runOptional('topics', () =>
      ensureTopics(connections.kafka, [publish.topic, consumed.name], topicSettingsOf(config), log),
    ),
  );
  // Startup tasks reject only when they are stopped or end the process; then nothing was started.
  const started = [
    prepared.then((known) => startDatabaseWork(work, known)),
    topicsCreated.then(async () => startKafkaWork(work, await prepared)),
  ].map((starting) => starting.catch(() => []));
  return {
    stop: async () => {
      startupTasks.stop();
      await store?.stop();
      const running = (await Promise.all(started)).flat();
      await Promise.all(running.map((each) => each.stop()));
    },
  };
};

/** Nothing is migrated for a service of another environment. */
const prepareOwnSchema = async <M extends DomainMessage>({
  config: { ENVIRONMENT: environment },
  connections: { readModel },
  migrations,
  projection: { schema },
}: Work<M>): Promise<void> => prepareSchema(readModel, { schema, folder: migrations, environment });

/** Watches whether the event store is the one of the checkpoints. Appends to another store throw. */
const watchOwnStore = <M extends DomainMessage>({ connections, projection, gate, log }: Work<M>) => {
  const { client, readModel: db } = connections;
  const { schema } = projection;
  // A new process has nothing of the other store in memory; whoever supervises this one starts it.
  const onReplaced = () => void process.kill(process.pid, 'SIGTERM');
  const store = watchStore({ client, db, schema, gate, onReplaced, log });
  guardAppends(client, store.requireKnown);
  return store;
};

const prepareStore = async <M extends DomainMessage>(
  { config, connections: { client, readModel, name }, projection, moreProjections = [], gate }: Work<M>,
  store: StoreWatch,
): Promise<void> => {
  const environment = config.ENVIRONMENT;
  await requireEnvironment(client, environment);
  await store.untilKnown();
  await requireOwnStore({ client, db: readModel, projection, environment, name });
  await requireRecordedScales(client, scalesOf(config));
  // Before the first row: tables with rows but no version count as those of an earlier version.
  for (const each of [projection, ...moreProjections]) await ensureVersion(readModel, each);
  gate.open();
};

const startDatabaseWork = <M extends DomainMessage>(work: Work<M>, store: StoreWatch): Stoppable[] => {
  const { projection: first, moreProjections = [], migrations, beforeProjecting, startWithoutKafka = () => [] } = work;
  const subscription = subscriptionOf(work);
  return [
    startProjection({ ...subscription, store, projection: first, ...(beforeProjecting && { beforeProjecting }) }),
    ...moreProjections.map((projection) => startProjection({ ...subscription, store, projection })),
    ...[first, ...moreProjections].map((projection) => rebuildOutdated({ ...subscription, projection, migrations })),
    ...startWithoutKafka(),
  ];
};

const startKafkaWork = <M extends DomainMessage>(work: Work<M>, store: StoreWatch): Stoppable[] => {
  const { connections, projection, publish, metrics, log } = work;
  const { schema, prefixes, orderingKeyOf } = projection;
  const { kafka, publisherFor, name } = connections;
  const { handle, ...topic } = work.consume;
  return [
    startRelay({
      ...subscriptionOf(work),
      ...publish,
      store,
      schema,
      prefixes,
      ...(orderingKeyOf && { orderingKeyOf }),
      publisherFor: (checkpoint) => {
        const publisher = publisherFor(checkpoint);
        const open = async () => {
          // Kafka may come back empty.
          await ensureTopics(kafka, [publish.topic, topic.name], topicSettingsOf(work.config));
          await publisher.open();
        };
        return { ...publisher, open };
      },
    }),
    consume({
      kafka,
      groupId: name,
      topics: [topic],
      handle: async (messages) => {
        // `untilKnown` rejects at a stop. Unless the store is known then, the messages are consumed again.
        await store.untilKnown().catch(() => store.requireKnown());
        await handle(messages);
      },
      isTransientError: isTransientDatabaseError,
      // Callers that wait were answered by a direct call, so messages may wait to be fetched together.
      preferThroughput: true,
      metrics,
      wait: connections.outages.wait,
      log,
    }),
  ];
};

const subscriptionOf = <M extends DomainMessage>({ connections, lags, log }: Work<M>) => {
  const { client, followerPool: pool, databaseUrl, shards, outages } = connections;
  return { client, pool, databaseUrl, shards, lags, wait: outages.wait, log };
};
