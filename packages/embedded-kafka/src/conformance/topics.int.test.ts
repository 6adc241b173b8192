import { ConfigResourceTypes } from 'kafkajs';
import {
  type Cluster,
  disconnectAll,
  newName,
  newTopic,
  producerOf,
  readValues,
  startCluster,
} from '../testing/cluster.ts';
import { commitOffset } from '../testing/raw-client.ts';

let cluster: Cluster;
let admin: ReturnType<Cluster['client']['admin']>;
beforeAll(async () => {
  cluster = await startCluster();
  admin = cluster.client.admin();
  await admin.connect();
});
afterAll(async () => {
  await disconnectAll(admin);
  await cluster.stop();
});

const create = (topic: string, more: object = {}) => admin.createTopics({ topics: [{ topic, ...more }] });
const partitionsOf = async (topic: string) =>
  (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]!.partitions;
const refusal = (type: string) => ({ errors: [expect.objectContaining({ type })] });

test('a topic has the partitions it was made with, all led by the one broker', async () => {
  const topic = newName('topic');
  expect(await create(topic, { numPartitions: 5 })).toBe(true);
  const partitions = await partitionsOf(topic);
  expect(partitions.map(({ partitionId }) => partitionId).sort()).toEqual([0, 1, 2, 3, 4]);
  const { brokers, controller } = await admin.describeCluster();
  expect(brokers).toHaveLength(1);
  expect(controller).toBe(brokers[0]!.nodeId);
  expect(partitions[0]).toMatchObject({
    leader: controller,
    replicas: [controller],
    isr: [controller],
    partitionErrorCode: 0,
  });
});

test('topics are listed until they are deleted', async () => {
  const topic = await newTopic(admin);
  expect(await admin.listTopics()).toContain(topic);
  await admin.deleteTopics({ topics: [topic] });
  expect(await admin.listTopics()).not.toContain(topic);
});

test('a topic that exists is not made again', async () => {
  const topic = await newTopic(admin, 2);
  expect(await create(topic, { numPartitions: 7 })).toBe(false);
  expect(await partitionsOf(topic)).toHaveLength(2);
});

test.each([
  ['a name with a space', { topic: 'not a name' }, 'INVALID_TOPIC_EXCEPTION'],
  ['a name that is too long', { topic: 'x'.repeat(250) }, 'INVALID_TOPIC_EXCEPTION'],
  ['no partitions', { numPartitions: 0 }, 'INVALID_PARTITIONS'],
  ['two replicas on one broker', { replicationFactor: 2 }, 'INVALID_REPLICATION_FACTOR'],
  ['a setting nobody knows', { configEntries: [{ name: 'no.such', value: '1' }] }, 'INVALID_CONFIG'],
  ['a setting without sense', { configEntries: [{ name: 'retention.ms', value: 'soon' }] }, 'INVALID_CONFIG'],
])('a topic with %s is refused', async (_, more, type) => {
  await expect(create(newName('topic'), more)).rejects.toMatchObject(refusal(type));
});

test('validating a topic does not make it', async () => {
  const topic = newName('topic');
  expect(await admin.createTopics({ validateOnly: true, waitForLeaders: false, topics: [{ topic }] })).toBe(true);
  expect(await admin.listTopics()).not.toContain(topic);
});

test('partitions are added, never taken away', async () => {
  const topic = await newTopic(admin, 2);
  await admin.createPartitions({ topicPartitions: [{ topic, count: 4 }] });
  expect(await partitionsOf(topic)).toHaveLength(4);
  const shrink = admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
  await expect(shrink).rejects.toMatchObject({ type: 'INVALID_PARTITIONS' });
  const producer = await producerOf(cluster.client);
  await producer.send({ topic, messages: [{ partition: 3, value: 'new' }] });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['new']);
  await producer.disconnect();
});

test('a topic made again under the name of a deleted one starts empty, without the old offsets', async () => {
  const topic = await newTopic(admin);
  const groupId = newName('group');
  const producer = await producerOf(cluster.client);
  await producer.send({ topic, messages: [{ value: 'old' }] });
  expect(await commitOffset(cluster.brokers, groupId, topic, 1)).toBe(0);
  await admin.deleteTopics({ topics: [topic] });
  await create(topic, { numPartitions: 1 });
  expect(await admin.fetchTopicOffsets(topic)).toEqual([{ partition: 0, offset: '0', high: '0', low: '0' }]);
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
  expect(offsets!.partitions).toEqual([expect.objectContaining({ offset: '-1' })]);
  await producer.send({ topic, messages: [{ value: 'new' }] });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['new']);
  await producer.disconnect();
});

test('deleting a topic that is not there is refused', async () => {
  const hasty = cluster.client.admin({ retry: { retries: 0 } });
  await hasty.connect();
  await expect(hasty.deleteTopics({ topics: [newName('topic')] })).rejects.toThrow(
    'does not host this topic-partition',
  );
  await hasty.disconnect();
});

test("a topic's settings are told, its own and the broker's", async () => {
  const topic = await newTopic(admin, 1, { 'retention.ms': '3600000' });
  const describe = (configNames?: string[]) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames }],
    });
  const { resources } = await describe();
  const valueOf = (name: string) => resources[0]!.configEntries.find((entry) => entry.configName === name)?.configValue;
  expect(valueOf('retention.ms')).toBe('3600000');
  expect(valueOf('max.message.bytes')).toBe('1048588');
  expect(valueOf('cleanup.policy')).toBe('delete');
  const { resources: chosen } = await describe(['retention.ms']);
  expect(chosen[0]!.configEntries.map(({ configName }) => configName)).toEqual(['retention.ms']);
});
