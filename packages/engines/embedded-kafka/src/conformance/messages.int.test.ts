import { CompressionTypes } from 'kafkajs';
import { type Cluster, newTopic, readMessages, readValues, startCluster } from '../testing/cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ tailCacheBytes: 300_000 });
});
afterAll(() => cluster.stop());

const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n));
const messages = (values: readonly string[]) => values.map((value) => ({ value }));

test('a message keeps its key, value, headers and timestamp', async () => {
  const topic = await newTopic(cluster.admin);
  const timestamp = '1700000000123';
  await cluster.producer.send({ topic, messages: [{ key: 'k', value: 'v', headers: { trace: 'abc' }, timestamp }] });
  const [message] = await readMessages(cluster.client, topic, 1);
  expect(message).toMatchObject({ offset: '0', timestamp, key: Buffer.from('k'), value: Buffer.from('v') });
  expect(message!.headers).toEqual({ trace: Buffer.from('abc') });
});

test('a header may have several values or an empty one', async () => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({
    topic,
    messages: [{ value: 'v', headers: { many: ['a', 'b'], empty: '' } }, { value: 'w' }],
  });
  const [first, second] = await readMessages(cluster.client, topic, 2);
  expect(first!.headers).toEqual({ many: [Buffer.from('a'), Buffer.from('b')], empty: Buffer.from('') });
  expect(second!.headers).toEqual({});
});

test('a message keeps a null key and a null value', async () => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({ topic, messages: [{ value: null }, { key: 'only', value: null }, { value: '' }] });
  const received = await readMessages(cluster.client, topic, 3);
  expect(received.map(({ key, value }) => [key?.toString() ?? null, value?.toString() ?? null])).toEqual([
    [null, null],
    ['only', null],
    [null, ''],
  ]);
});

test('messages of a partition keep their order across requests', async () => {
  const topic = await newTopic(cluster.admin);
  for (const value of numbers(50)) await cluster.producer.send({ topic, messages: [{ value }] });
  const received = await readMessages(cluster.client, topic, 50);
  expect(received.map(({ value }) => String(value))).toEqual(numbers(50));
  expect(received.map(({ offset }) => offset)).toEqual(numbers(50));
});

test('concurrent requests get distinct offsets without gaps', async () => {
  const topic = await newTopic(cluster.admin);
  const sent = await Promise.all(
    numbers(40).map((n) => cluster.producer.send({ topic, messages: messages([n, n, n]) })),
  );
  const offsets = sent.flat().map(({ baseOffset }) => Number(baseOffset));
  expect(offsets.sort((a, b) => a - b)).toEqual(numbers(40).map((n) => 3 * Number(n)));
});

test.each([
  ['all replicas', -1],
  ['the leader', 1],
  ['nobody', 0],
])('messages acknowledged by %s are stored', async (_, acks) => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({ topic, acks, messages: messages(['a', 'b']) });
  expect(await readValues(cluster.client, topic, 2)).toEqual(['a', 'b']);
});

test('compressed batches are delivered unchanged', async () => {
  const topic = await newTopic(cluster.admin);
  const values = numbers(200);
  await cluster.producer.send({ topic, compression: CompressionTypes.GZIP, messages: messages(values) });
  await cluster.producer.send({ topic, messages: messages(['plain']) });
  expect(await readValues(cluster.client, topic, 201)).toEqual([...values, 'plain']);
});

test('one request may contain several topics and partitions', async () => {
  const [one, two] = [await newTopic(cluster.admin, 3), await newTopic(cluster.admin)];
  const spread = [0, 1, 2].map((partition) => ({ partition, value: `p${partition}` }));
  await cluster.producer.sendBatch({
    topicMessages: [
      { topic: one, messages: spread },
      { topic: two, messages: messages(['x']) },
    ],
  });
  const received = await readMessages(cluster.client, one, 3);
  expect(received.map(({ partition, value }) => `${partition}:${value}`).sort()).toEqual(['0:p0', '1:p1', '2:p2']);
  expect(await readValues(cluster.client, two, 1)).toEqual(['x']);
});

test('messages with the same key are in one partition, in order', async () => {
  const topic = await newTopic(cluster.admin, 6);
  for (const round of numbers(5)) {
    await cluster.producer.send({ topic, messages: numbers(10).map((key) => ({ key, value: `${key}/${round}` })) });
  }
  const received = await readMessages(cluster.client, topic, 50);
  for (const key of numbers(10)) {
    const ofKey = received.filter((message) => String(message.key) === key);
    expect(ofKey.map(({ value }) => String(value))).toEqual(numbers(5).map((round) => `${key}/${round}`));
    expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
  }
});
