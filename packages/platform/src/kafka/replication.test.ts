import { ConfigError } from '../config/config.ts';
import { createLogger, type Logger } from '../log/logger.ts';
import type { Admin, ITopicConfig, Kafka } from 'kafkajs';
import { ensureTopics, topicSettingsOf } from './topics.ts';

/** A cluster of brokers without ACLs. `existing` has the replicas of its topics. */
const clusterOf = (brokers: number, existing: Record<string, number> = {}) => {
  const created: ITopicConfig[] = [];
  const admin = {
    connect: async () => {},
    disconnect: async () => {},
    listTopics: async () => Object.keys(existing),
    describeCluster: async () => ({ brokers: Array.from({ length: brokers }, (_, nodeId) => ({ nodeId })) }),
    createTopics: async ({ topics }: { topics: ITopicConfig[] }) => created.push(...topics),
    describeConfigs: async () => ({ resources: [] }),
    alterConfigs: async () => {},
    fetchTopicMetadata: async ({ topics }: { topics: string[] }) => ({
      topics: topics.map((name) => ({ name, partitions: [{ replicas: Array.from({ length: existing[name]! }) }] })),
    }),
  } as unknown as Admin;
  return { kafka: { admin: () => admin } as Kafka, created };
};

const production = { ENVIRONMENT: 'production', KAFKA_PARTITIONS: 12, KAFKA_RETENTION_DAYS: 30 } as const;
const strict = { ...production, KAFKA_ALLOW_FEWER_REPLICAS: false };
const ensure = (kafka: Kafka, config: Parameters<typeof topicSettingsOf>[0], log?: Logger) =>
  ensureTopics(kafka, ['orders.v1'], topicSettingsOf(config), log);
const replicasIn = (created: readonly ITopicConfig[]) => created.map(({ replicationFactor }) => replicationFactor);
const inSyncIn = (created: readonly ITopicConfig[]) =>
  created.map(({ configEntries }) => configEntries?.find(({ name }) => name === 'min.insync.replicas')?.value);

test('a topic has three replicas in production, of which two must have a message', async () => {
  const { kafka, created } = clusterOf(3);
  await ensure(kafka, strict);
  expect(created.map(({ topic }) => topic)).toEqual(['orders.v1', 'orders.v1.dlq']);
  expect([replicasIn(created), inSyncIn(created)]).toEqual([
    [3, 3],
    ['2', '2'],
  ]);
});

test.each([
  [{ ...strict, ENVIRONMENT: 'sandbox' as const }, 1, undefined],
  [{ ...strict, KAFKA_REPLICATION: 2 }, 2, '1'],
])('a topic has the replicas of %j', async (config, replicas, inSync) => {
  const { kafka, created } = clusterOf(2);
  await ensure(kafka, config);
  expect([replicasIn(created), inSyncIn(created)]).toEqual([
    [replicas, replicas],
    [inSync, inSync],
  ]);
});

test('refuses a cluster with too few brokers in a sentence, and creates nothing', async () => {
  const { kafka, created } = clusterOf(1);
  const refused = ensure(kafka, strict);
  await expect(refused).rejects.toBeInstanceOf(ConfigError);
  await expect(refused).rejects.toThrow(
    'new topics need 3 replicas, but Kafka has 1 broker: add brokers, lower KAFKA_REPLICATION, or set KAFKA_ALLOW_FEWER_REPLICAS=true',
  );
  expect(created).toEqual([]);
});

test('creates as many replicas as there are brokers where the operator allows it', async () => {
  const { kafka, created } = clusterOf(1);
  await ensure(kafka, { ...production, KAFKA_ALLOW_FEWER_REPLICAS: true });
  expect([replicasIn(created), inSyncIn(created)]).toEqual([
    [1, 1],
    [undefined, undefined],
  ]);
});

test('reports existing topics with fewer replicas, and goes on', async () => {
  const { kafka, created } = clusterOf(1, { 'orders.v1': 1, 'orders.v1.dlq': 3 });
  const errors: unknown[] = [];
  const log = createLogger({ name: 'test', level: 'silent' });
  log.error = (fields: unknown) => void errors.push(fields);
  await ensure(kafka, strict, log);
  expect(errors).toEqual([{ topic: 'orders.v1', replicas: 1, configured: 3 }]);
  expect(created).toEqual([]);
});
