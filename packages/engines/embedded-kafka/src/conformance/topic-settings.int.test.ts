import { ConfigResourceTypes } from 'kafkajs';
import { batchOf, sendBatch } from '../testing/batches.ts';
import { type Cluster, newName, newTopic, startCluster, until } from '../testing/cluster.ts';
import { alterConfigs } from '../testing/config-client.ts';
import type { ConfigEntry } from '../storage/topic-config.ts';
import { onConnection } from '../testing/raw-client.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ cleanupIntervalMs: 100 });
});
afterAll(() => cluster.stop());

const create = (settings: Record<string, string>, more: object = {}) =>
  cluster.admin.createTopics({
    waitForLeaders: false,
    topics: [
      {
        topic: newName('topic'),
        configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
        ...more,
      },
    ],
  });
const refusal = (type: string) => ({ errors: [expect.objectContaining({ type })] });

/** The values of the settings, by name. */
const settingsOf = async (topic: string, names: readonly string[]): Promise<Record<string, string>> => {
  const { resources } = await cluster.admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: [...names] }],
  });
  return Object.fromEntries(
    resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]),
  );
};

/** Waits until the settings are as expected: Apache Kafka applies them after the response. */
const untilSettings = (topic: string, expected: Record<string, string>) =>
  until(async () => {
    const found = await settingsOf(topic, Object.keys(expected));
    return Object.entries(expected).every(([name, value]) => found[name] === value);
  });

test.each<Record<string, string>>([
  { 'retention.ms': '-1' },
  { 'retention.ms': '9223372036854775807' },
  { 'min.insync.replicas': '2' },
  { 'message.timestamp.after.max.ms': '60000' },
  { 'message.timestamp.before.max.ms': '9223372036854775807' },
  { 'segment.ms': '86400000', 'segment.bytes': '1048576' },
  { 'cleanup.policy': 'delete', 'compression.type': 'producer', 'message.timestamp.type': 'CreateTime' },
])('a topic keeps the settings %j', async (settings) => {
  const topic = await newTopic(cluster.admin, 1, settings);
  await untilSettings(topic, settings);
});

test.each<Record<string, string>>([
  { 'retention.ms': '-2' },
  { 'retention.ms': '1.5' },
  { 'retention.ms': '9223372036854775808' },
  { 'min.insync.replicas': '0' },
  { 'max.message.bytes': '-1' },
  { 'message.timestamp.after.max.ms': '-1' },
  { 'segment.ms': '0' },
  { 'segment.bytes': '13' },
])('a topic with the settings %j is refused', async (settings) => {
  await expect(create(settings)).rejects.toMatchObject(refusal('INVALID_CONFIG'));
});

test.each([0, 2, 3, -2])('a replication factor of %i on one broker is refused', async (replicationFactor) => {
  await expect(create({}, { replicationFactor })).rejects.toMatchObject(refusal('INVALID_REPLICATION_FACTOR'));
});

test('a topic with more in-sync replicas required than it has replicas can be written to', async () => {
  const topic = await newTopic(cluster.admin, 1, { 'min.insync.replicas': '2' });
  const sent = await onConnection(cluster.brokers, (client) => sendBatch(client, topic, batchOf(['x'])));
  expect(sent).toEqual({ error: 0, baseOffset: 0 });
});

test('AlterConfigs replaces all settings of a topic', async () => {
  const topic = await newTopic(cluster.admin, 1, { 'retention.ms': '1000000', 'max.message.bytes': '5000' });
  await cluster.admin.alterConfigs({
    validateOnly: false,
    resources: [
      { type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name: 'retention.ms', value: '2000000' }] },
    ],
  });
  await untilSettings(topic, { 'retention.ms': '2000000', 'max.message.bytes': '1048588' });
});

test('a change that is only validated changes nothing', async () => {
  const topic = await newTopic(cluster.admin, 1, { 'retention.ms': '1000000' });
  expect(await alterConfigs(cluster.brokers, topic, [['retention.ms', '2000000']], true)).toBe(0);
  expect(await settingsOf(topic, ['retention.ms'])).toEqual({ 'retention.ms': '1000000' });
});

const [INVALID_CONFIG, INVALID_REQUEST] = [40, 42];

test.each<[string, ConfigEntry[], number]>([
  ['an invalid value', [['retention.ms', 'soon']], INVALID_CONFIG],
  ['an unknown setting', [['no.such', '1']], INVALID_CONFIG],
  ['no value', [['retention.ms', null]], INVALID_REQUEST],
  ['one setting twice', [1, 2].map((n) => ['retention.ms', String(n)] as const), INVALID_REQUEST],
])('AlterConfigs with %s is refused', async (_, entries, error) => {
  const topic = await newTopic(cluster.admin, 1, { 'retention.ms': '1000000' });
  expect(await alterConfigs(cluster.brokers, topic, [['max.message.bytes', '5000'], ...entries])).toBe(error);
  const unchanged = { 'retention.ms': '1000000', 'max.message.bytes': '1048588' };
  expect(await settingsOf(topic, Object.keys(unchanged))).toEqual(unchanged);
});

test('the settings of a missing topic cannot be changed', async () => {
  expect(await alterConfigs(cluster.brokers, newName('topic'), [['retention.ms', '1']])).toBe(3);
});

test('records older than a changed retention time are deleted, and without one they stay', async () => {
  const topics = [await newTopic(cluster.admin), await newTopic(cluster.admin, 1, { 'retention.ms': '-1' })];
  const [expiring, kept] = topics as [string, string];
  const timestamp = String(Date.now() - 7_200_000);
  for (const topic of topics) await cluster.producer.send({ topic, messages: [{ value: 'old', timestamp }] });
  expect(await alterConfigs(cluster.brokers, expiring, [['retention.ms', '3600000']])).toBe(0);
  const lowOf = async (topic: string) => (await cluster.admin.fetchTopicOffsets(topic))[0]!.low;
  await until(async () => (await lowOf(expiring)) === '1');
  expect(await lowOf(kept)).toBe('0');
});
