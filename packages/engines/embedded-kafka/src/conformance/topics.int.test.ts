import { ConfigResourceTypes } from 'kafkajs';
import { type Cluster, newName, newTopic, readValues, startCluster } from '../testing/cluster.ts';
import { commitOffset } from '../testing/raw-client.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const create = (topic: string, more: object = {}) => cluster.admin.createTopics({ topics: [{ topic, ...more }] });
const partitionsOf = async (topic: string) =>
  (await cluster.admin.fetchTopicMetadata({ topics: [topic] })).topics[0]!.partitions;
const refusal = (type: string) => ({ errors: [expect.objectContaining({ type })] });

test('the only broker leads all partitions of a new topic', async () => {
  const topic = newName('topic');
  expect(await create(topic, { numPartitions: 5 })).toBe(true);
  const partitions = await partitionsOf(topic);
  expect(partitions.map(({ partitionId }) => partitionId).sort()).toEqual([0, 1, 2, 3, 4]);
  const { brokers, controller } = await cluster.admin.describeCluster();
  expect(brokers).toHaveLength(1);
  expect(controller).toBe(brokers[0]!.nodeId);
  expect(partitions[0]).toMatchObject({
    leader: controller,
    replicas: [controller],
    isr: [controller],
    partitionErrorCode: 0,
  });
});

test('a topic is listed until it is deleted', async () => {
  const topic = await newTopic(cluster.admin);
  expect(await cluster.admin.listTopics()).toContain(topic);
  await cluster.admin.deleteTopics({ topics: [topic] });
  expect(await cluster.admin.listTopics()).not.toContain(topic);
});

test('creating an existing topic changes nothing', async () => {
  const topic = await newTopic(cluster.admin, 2);
  expect(await create(topic, { numPartitions: 7 })).toBe(false);
  expect(await partitionsOf(topic)).toHaveLength(2);
});

test.each([
  ['a name with a space', { topic: 'not a name' }, 'INVALID_TOPIC_EXCEPTION'],
  ['a name that is too long', { topic: 'x'.repeat(250) }, 'INVALID_TOPIC_EXCEPTION'],
  ['no partitions', { numPartitions: 0 }, 'INVALID_PARTITIONS'],
  ['two replicas on one broker', { replicationFactor: 2 }, 'INVALID_REPLICATION_FACTOR'],
  ['an unknown setting', { configEntries: [{ name: 'no.such', value: '1' }] }, 'INVALID_CONFIG'],
  ['an invalid setting', { configEntries: [{ name: 'retention.ms', value: 'soon' }] }, 'INVALID_CONFIG'],
])('creating a topic with %s is refused', async (_, more, type) => {
  await expect(create(newName('topic'), more)).rejects.toMatchObject(refusal(type));
});

test('a topic whose name differs from another in dots and underscores only is refused', async () => {
  const name = newName('topic');
  await create(`${name}.a_b`);
  for (const topic of [`${name}_a.b`, `${name}.a.b`, `${name}_a_b`])
    await expect(create(topic)).rejects.toMatchObject(refusal('INVALID_TOPIC_EXCEPTION'));
  expect(await create(`${name}.a_b`)).toBe(false); // it exists
  await cluster.admin.deleteTopics({ topics: [`${name}.a_b`] });
  expect(await create(`${name}_a_b`)).toBe(true);
});

test('validating a topic does not create it', async () => {
  const topic = newName('topic');
  expect(await cluster.admin.createTopics({ validateOnly: true, waitForLeaders: false, topics: [{ topic }] })).toBe(
    true,
  );
  expect(await cluster.admin.listTopics()).not.toContain(topic);
});

test('partitions can be added but not removed', async () => {
  const topic = await newTopic(cluster.admin, 2);
  await cluster.admin.createPartitions({ topicPartitions: [{ topic, count: 4 }] });
  expect(await partitionsOf(topic)).toHaveLength(4);
  const shrink = cluster.admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
  await expect(shrink).rejects.toMatchObject({ type: 'INVALID_PARTITIONS' });
  await cluster.producer.send({ topic, messages: [{ partition: 3, value: 'new' }] });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['new']);
});

test('a topic with the name of a deleted one starts empty, without committed offsets', async () => {
  const topic = await newTopic(cluster.admin);
  const groupId = newName('group');
  await cluster.producer.send({ topic, messages: [{ value: 'old' }] });
  expect(await commitOffset(cluster.brokers, groupId, topic, 1)).toBe(0);
  await cluster.admin.deleteTopics({ topics: [topic] });
  await create(topic, { numPartitions: 1 });
  expect(await cluster.admin.fetchTopicOffsets(topic)).toEqual([{ partition: 0, offset: '0', high: '0', low: '0' }]);
  const [offsets] = await cluster.admin.fetchOffsets({ groupId, topics: [topic] });
  expect(offsets!.partitions).toEqual([expect.objectContaining({ offset: '-1' })]);
  await cluster.producer.send({ topic, messages: [{ value: 'new' }] });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['new']);
});

test('deleting a missing topic is refused', async () => {
  const adminWithoutRetries = cluster.client.admin({ retry: { retries: 0 } });
  await adminWithoutRetries.connect();
  await expect(adminWithoutRetries.deleteTopics({ topics: [newName('topic')] })).rejects.toThrow(
    'does not host this topic-partition',
  );
  await adminWithoutRetries.disconnect();
});

test('DescribeConfigs returns the settings of a topic and the defaults of the broker', async () => {
  const topic = await newTopic(cluster.admin, 1, { 'retention.ms': '3600000' });
  const describe = (more: { configNames?: string[] } = {}) =>
    cluster.admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, ...more }],
    });
  const { resources } = await describe();
  const valueOf = (name: string) => resources[0]!.configEntries.find((entry) => entry.configName === name)?.configValue;
  expect(valueOf('retention.ms')).toBe('3600000');
  expect(valueOf('max.message.bytes')).toBe('1048588');
  expect(valueOf('cleanup.policy')).toBe('delete');
  const { resources: chosen } = await describe({ configNames: ['retention.ms'] });
  expect(chosen[0]!.configEntries.map(({ configName }) => configName)).toEqual(['retention.ms']);
});
