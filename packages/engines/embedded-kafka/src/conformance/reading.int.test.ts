import { CompressionTypes } from 'kafkajs';
import {
  type Cluster,
  follow,
  newName,
  newTopic,
  producerOf,
  readMessages,
  readValues,
  startCluster,
  until,
} from '../testing/cluster.ts';
import { onConnection } from '../testing/raw-client.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ tailCacheBytes: 300_000 });
});
afterAll(() => cluster.stop());

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => String(from + n));
const messages = (values: readonly string[]) => values.map((value) => ({ value }));

test('a waiting consumer receives new messages', async () => {
  const topic = await newTopic(cluster.admin);
  const { consumer, received, assigned } = await follow(cluster.client, topic, { maxWaitTimeInMs: 5_000 });
  await until(() => assigned().length === 1);
  await cluster.producer.send({ topic, messages: messages(['live']) });
  await until(() => received.length === 1);
  await cluster.producer.send({ topic, messages: messages(['again']) });
  await until(() => received.length === 2);
  await consumer.disconnect();
  expect(received.map(({ value }) => String(value))).toEqual(['live', 'again']);
});

test('a message larger than the fetch limit is delivered', async () => {
  const topic = await newTopic(cluster.admin);
  const large = 'x'.repeat(200_000);
  await cluster.producer.send({ topic, messages: messages([large]) });
  await cluster.producer.send({ topic, messages: messages(['after']) });
  const limits = { maxBytes: 1_000, maxBytesPerPartition: 1_000 };
  const { consumer, received } = await follow(cluster.client, topic, limits);
  await until(() => received.length === 2);
  await consumer.disconnect();
  expect(received.map(({ value }) => value!.length)).toEqual([200_000, 5]);
});

test('a consumer reads more data than the cache can keep', async () => {
  const topic = await newTopic(cluster.admin);
  const value = 'y'.repeat(10_000);
  for (let n = 0; n < 20; n += 1)
    await cluster.producer.send({ topic, messages: messages(Array.from({ length: 50 }, () => value)) });
  const received = await readMessages(cluster.client, topic, 1000);
  expect(received.map(({ offset }) => offset)).toEqual(numbers(1000));
});

test('a message above the limit of its topic is refused and not stored', async () => {
  const topic = await newTopic(cluster.admin, 1, { 'max.message.bytes': '5000' });
  await expect(cluster.producer.send({ topic, messages: messages(['x'.repeat(6_000)]) })).rejects.toMatchObject({
    type: 'MESSAGE_TOO_LARGE',
  });
  await cluster.producer.send({ topic, messages: messages(['fits']) });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['fits']);
});

test('the first message for a missing topic creates it', async () => {
  const topic = newName('made');
  await cluster.producer.send({ topic, messages: messages(['first']) });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['first']);
});

test('a producer without automatic topic creation gets an error for a missing topic', async () => {
  const strict = await producerOf(cluster.client, {
    allowAutoTopicCreation: false,
    retry: { retries: 1, initialRetryTime: 10 },
  });
  const topic = newName('missing');
  await expect(strict.send({ topic, messages: messages(['x']) })).rejects.toThrow('does not host this topic-partition');
  await strict.disconnect();
  expect(await cluster.admin.listTopics()).not.toContain(topic);
});

test('offsets are found by timestamp', async () => {
  const topic = await newTopic(cluster.admin);
  const at = (timestamp: number) => ({ value: String(timestamp), timestamp: String(timestamp) });
  await cluster.producer.send({
    topic,
    messages: [at(1_700_000_001_000), at(1_700_000_002_000), at(1_700_000_003_000)],
  });
  await cluster.producer.send({
    topic,
    compression: CompressionTypes.GZIP,
    messages: [at(1_700_000_004_000), at(1_700_000_005_000)],
  });
  const offsetAt = async (time: number) => (await cluster.admin.fetchTopicOffsetsByTimestamp(topic, time))[0]!.offset;
  expect(await offsetAt(1_700_000_000_000)).toBe('0');
  expect(await offsetAt(1_700_000_002_000)).toBe('1');
  expect(await offsetAt(1_700_000_002_001)).toBe('2');
  expect(await offsetAt(1_700_000_004_500)).toBe('4');
  expect(await offsetAt(1_700_000_005_001)).toBe('5'); // no such record: kafkajs returns the end
});

test.each([1, 2, 3, 4, 5])('ListOffsets %i refuses negative timestamps without a meaning', async (version) => {
  const topic = await newTopic(cluster.admin);
  await onConnection(cluster.brokers, async (client) => {
    const errors: number[] = [];
    for (const timestamp of [-1, -2, -3, -4, -5, -6, -100]) {
      const response = await client.request(2, version, (body) => {
        body.int32(-1);
        if (version >= 2) body.int8(0);
        body.array([topic], (name) =>
          body.string(name).array([0], (index) => {
            body.int32(index);
            if (version >= 4) body.int32(-1);
            body.int64(timestamp);
          }),
        );
      });
      if (version >= 2) response.int32();
      expect([response.int32(), response.string(), response.int32(), response.int32()]).toEqual([1, topic, 1, 0]);
      errors.push(response.int16());
    }
    expect(errors).toEqual([0, 0, 35, 35, 35, 35, 35]);
  });
});

test('consumers start after the deleted records', async () => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({ topic, messages: messages(numbers(5)) });
  await cluster.producer.send({ topic, messages: messages(numbers(5, 5)) });
  await cluster.admin.fetchTopicOffsets(topic); // kafkajs must know the topic
  await cluster.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '7' }] });
  expect(await cluster.admin.fetchTopicOffsets(topic)).toEqual([{ partition: 0, offset: '10', high: '10', low: '7' }]);
  const received = await readMessages(cluster.client, topic, 3);
  expect(received.map(({ offset }) => offset)).toEqual(['7', '8', '9']);
  await expect(
    cluster.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '11' }] }),
  ).rejects.toThrow();
});
