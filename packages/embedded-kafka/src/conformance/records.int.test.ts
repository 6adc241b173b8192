import { CompressionTypes } from 'kafkajs';
import {
  type Cluster,
  disconnectAll,
  follow,
  newName,
  newTopic,
  producerOf,
  readMessages,
  readValues,
  startCluster,
  until,
} from '../testing/cluster.ts';

let cluster: Cluster;
let admin: ReturnType<Cluster['client']['admin']>;
let producer: Awaited<ReturnType<typeof producerOf>>;
beforeAll(async () => {
  cluster = await startCluster({ tailCacheBytes: 300_000 });
  admin = cluster.client.admin();
  await admin.connect();
  producer = await producerOf(cluster.client);
});
afterAll(async () => {
  await disconnectAll(admin, producer);
  await cluster.stop();
});

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => String(from + n));
const messages = (values: readonly string[]) => values.map((value) => ({ value }));

test('a message comes back as it was sent: key, value, headers and time', async () => {
  const topic = await newTopic(admin);
  const timestamp = '1700000000123';
  await producer.send({ topic, messages: [{ key: 'k', value: 'v', headers: { trace: 'abc' }, timestamp }] });
  const [message] = await readMessages(cluster.client, topic, 1);
  expect(message).toMatchObject({ offset: '0', timestamp, key: Buffer.from('k'), value: Buffer.from('v') });
  expect(message!.headers).toEqual({ trace: Buffer.from('abc') });
});

test('a header may have several values, and none', async () => {
  const topic = await newTopic(admin);
  await producer.send({ topic, messages: [{ value: 'v', headers: { many: ['a', 'b'], empty: '' } }, { value: 'w' }] });
  const [first, second] = await readMessages(cluster.client, topic, 2);
  expect(first!.headers).toEqual({ many: [Buffer.from('a'), Buffer.from('b')], empty: Buffer.from('') });
  expect(second!.headers).toEqual({});
});

test('messages without a key or a value are kept as such', async () => {
  const topic = await newTopic(admin);
  await producer.send({ topic, messages: [{ value: null }, { key: 'only', value: null }, { value: '' }] });
  const received = await readMessages(cluster.client, topic, 3);
  expect(received.map(({ key, value }) => [key?.toString() ?? null, value?.toString() ?? null])).toEqual([
    [null, null],
    ['only', null],
    [null, ''],
  ]);
});

test('messages of a partition come in the order of their sending, across many requests', async () => {
  const topic = await newTopic(admin);
  for (const value of numbers(50)) await producer.send({ topic, messages: [{ value }] });
  const received = await readMessages(cluster.client, topic, 50);
  expect(received.map(({ value }) => String(value))).toEqual(numbers(50));
  expect(received.map(({ offset }) => offset)).toEqual(numbers(50));
});

test('requests at the same time get offsets of their own, without gaps', async () => {
  const topic = await newTopic(admin);
  const sent = await Promise.all(numbers(40).map((n) => producer.send({ topic, messages: messages([n, n, n]) })));
  const offsets = sent.flat().map(({ baseOffset }) => Number(baseOffset));
  expect(offsets.sort((a, b) => a - b)).toEqual(numbers(40).map((n) => 3 * Number(n)));
});

test.each([
  ['all replicas', -1],
  ['the leader', 1],
  ['nobody', 0],
])('acknowledged by %s, messages are stored', async (_, acks) => {
  const topic = await newTopic(admin);
  await producer.send({ topic, acks, messages: messages(['a', 'b']) });
  expect(await readValues(cluster.client, topic, 2)).toEqual(['a', 'b']);
});

test('compressed batches come back as they were', async () => {
  const topic = await newTopic(admin);
  const values = numbers(200);
  await producer.send({ topic, compression: CompressionTypes.GZIP, messages: messages(values) });
  await producer.send({ topic, messages: messages(['plain']) });
  expect(await readValues(cluster.client, topic, 201)).toEqual([...values, 'plain']);
});

test('one request may hold several topics and partitions', async () => {
  const [one, two] = [await newTopic(admin, 3), await newTopic(admin)];
  const spread = [0, 1, 2].map((partition) => ({ partition, value: `p${partition}` }));
  await producer.sendBatch({
    topicMessages: [
      { topic: one, messages: spread },
      { topic: two, messages: messages(['x']) },
    ],
  });
  const received = await readMessages(cluster.client, one, 3);
  expect(received.map(({ partition, value }) => `${partition}:${value}`).sort()).toEqual(['0:p0', '1:p1', '2:p2']);
  expect(await readValues(cluster.client, two, 1)).toEqual(['x']);
});

test('the same key always goes to the same partition, and only there is its order kept', async () => {
  const topic = await newTopic(admin, 6);
  for (const round of numbers(5)) {
    await producer.send({ topic, messages: numbers(10).map((key) => ({ key, value: `${key}/${round}` })) });
  }
  const received = await readMessages(cluster.client, topic, 50);
  for (const key of numbers(10)) {
    const ofKey = received.filter((message) => String(message.key) === key);
    expect(ofKey.map(({ value }) => String(value))).toEqual(numbers(5).map((round) => `${key}/${round}`));
    expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
  }
});

test('a waiting consumer gets what is sent later', async () => {
  const topic = await newTopic(admin);
  const { consumer, received, assigned } = await follow(cluster.client, topic, { maxWaitTimeInMs: 5_000 });
  await until(() => assigned().length === 1);
  await producer.send({ topic, messages: messages(['live']) });
  await until(() => received.length === 1);
  await producer.send({ topic, messages: messages(['again']) });
  await until(() => received.length === 2);
  await consumer.disconnect();
  expect(received.map(({ value }) => String(value))).toEqual(['live', 'again']);
});

test('a message larger than a fetch asks for is delivered all the same', async () => {
  const topic = await newTopic(admin);
  const large = 'x'.repeat(200_000);
  await producer.send({ topic, messages: messages([large]) });
  await producer.send({ topic, messages: messages(['after']) });
  const limits = { maxBytes: 1_000, maxBytesPerPartition: 1_000 };
  const { consumer, received } = await follow(cluster.client, topic, limits);
  await until(() => received.length === 2);
  await consumer.disconnect();
  expect(received.map(({ value }) => value!.length)).toEqual([200_000, 5]);
});

test('more than fits into memory for live readers is read from the start', async () => {
  const topic = await newTopic(admin);
  const value = 'y'.repeat(10_000);
  for (let n = 0; n < 20; n += 1)
    await producer.send({ topic, messages: messages(Array.from({ length: 50 }, () => value)) });
  const received = await readMessages(cluster.client, topic, 1000);
  expect(received.map(({ offset }) => offset)).toEqual(numbers(1000));
});

test('a message beyond the limit of its topic is refused and not stored', async () => {
  const topic = await newTopic(admin, 1, { 'max.message.bytes': '5000' });
  await expect(producer.send({ topic, messages: messages(['x'.repeat(6_000)]) })).rejects.toMatchObject({
    type: 'MESSAGE_TOO_LARGE',
  });
  await producer.send({ topic, messages: messages(['fits']) });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['fits']);
});

test('an idempotent producer stores each message once', async () => {
  const topic = await newTopic(admin, 3);
  const idempotent = await producerOf(cluster.client, { idempotent: true });
  for (const value of numbers(20)) await idempotent.send({ topic, messages: [{ key: value, value }] });
  await idempotent.disconnect();
  const values = await readValues(cluster.client, topic, 20);
  expect(values.sort((a, b) => Number(a) - Number(b))).toEqual(numbers(20));
});

test('a topic that is not there is made by the first message for it', async () => {
  const topic = newName('made');
  await producer.send({ topic, messages: messages(['first']) });
  expect(await readValues(cluster.client, topic, 1)).toEqual(['first']);
});

test('a producer that may not make topics is told that there is none', async () => {
  const strict = await producerOf(cluster.client, {
    allowAutoTopicCreation: false,
    retry: { retries: 1, initialRetryTime: 10 },
  });
  const topic = newName('missing');
  await expect(strict.send({ topic, messages: messages(['x']) })).rejects.toThrow('does not host this topic-partition');
  await strict.disconnect();
  expect(await admin.listTopics()).not.toContain(topic);
});

test('offsets are found by time', async () => {
  const topic = await newTopic(admin);
  const at = (timestamp: number) => ({ value: String(timestamp), timestamp: String(timestamp) });
  await producer.send({ topic, messages: [at(1_700_000_001_000), at(1_700_000_002_000), at(1_700_000_003_000)] });
  await producer.send({
    topic,
    compression: CompressionTypes.GZIP,
    messages: [at(1_700_000_004_000), at(1_700_000_005_000)],
  });
  const offsetAt = async (time: number) => (await admin.fetchTopicOffsetsByTimestamp(topic, time))[0]!.offset;
  expect(await offsetAt(1_700_000_000_000)).toBe('0');
  expect(await offsetAt(1_700_000_002_000)).toBe('1');
  expect(await offsetAt(1_700_000_002_001)).toBe('2');
  expect(await offsetAt(1_700_000_004_500)).toBe('4');
  expect(await offsetAt(1_700_000_005_001)).toBe('5'); // nothing yet: kafkajs answers with the end
});

test('deleted records are gone, and readers start behind them', async () => {
  const topic = await newTopic(admin);
  await producer.send({ topic, messages: messages(numbers(5)) });
  await producer.send({ topic, messages: messages(numbers(5, 5)) });
  await admin.fetchTopicOffsets(topic); // kafkajs has to have met the topic
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '7' }] });
  expect(await admin.fetchTopicOffsets(topic)).toEqual([{ partition: 0, offset: '10', high: '10', low: '7' }]);
  const received = await readMessages(cluster.client, topic, 3);
  expect(received.map(({ offset }) => offset)).toEqual(['7', '8', '9']);
  await expect(admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '11' }] })).rejects.toThrow();
});
