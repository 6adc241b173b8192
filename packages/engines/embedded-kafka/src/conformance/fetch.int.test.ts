import { type Cluster, newName, newTopic, startCluster } from '../testing/cluster.ts';
import { batchOf, sendBatch } from '../testing/batches.ts';
import { fetchFrom } from '../testing/fetch-client.ts';
import { RawClient } from '../testing/raw-client.ts';
import { addPartitions, endTransaction, initProducer, sendInTransaction } from '../testing/transaction-client.ts';

let cluster: Cluster;
let client: RawClient;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  client = await RawClient.connect(cluster.brokers);
});
afterEach(() => client.close());

const [LIST_OFFSETS, METADATA] = [2, 3];

test('a fetch beyond the end or before the start is out of range', async () => {
  const topic = await newTopic(cluster.admin);
  await sendBatch(client, topic, batchOf(['a', 'b']));
  expect(await fetchFrom(client, topic, 3)).toMatchObject({ error: 1 });
  await cluster.admin.fetchTopicOffsets(topic);
  await cluster.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] });
  expect(await fetchFrom(client, topic, 0)).toMatchObject({ error: 1 });
});

test('a fetch from a missing topic fails without waiting', async () => {
  expect(await fetchFrom(client, newName('topic'), 0, { maxWaitMs: 20_000 })).toMatchObject({ error: 3 });
});

test('a fetch at the end of the log returns at the next append', async () => {
  const topic = await newTopic(cluster.admin);
  const waiting = fetchFrom(client, topic, 0, { maxWaitMs: 20_000 });
  const other = await RawClient.connect(cluster.brokers);
  await sendBatch(other, topic, batchOf(['new']));
  expect((await waiting).records.length).toBeGreaterThan(0);
  other.close();
});

test('a fetch waits for its minimum number of bytes', async () => {
  const topic = await newTopic(cluster.admin);
  const one = batchOf(['x'.repeat(50)]).length;
  const waiting = fetchFrom(client, topic, 0, { maxWaitMs: 20_000, minBytes: 2 * one });
  const other = await RawClient.connect(cluster.brokers);
  await sendBatch(other, topic, batchOf(['x'.repeat(50)]));
  await sendBatch(other, topic, batchOf(['y'.repeat(50)]));
  expect((await waiting).records).toHaveLength(2 * one);
  other.close();
});

test('a waiting fetch of committed records sees a whole transaction when it ends', async () => {
  const topic = await newTopic(cluster.admin);
  const writer = await RawClient.connect(cluster.brokers);
  const producer = await initProducer(writer, newName('producer'));
  const waiting = fetchFrom(client, topic, 0, { maxWaitMs: 60_000, minBytes: 1_000, readCommitted: true });
  await addPartitions(writer, producer, topic);
  await sendInTransaction(writer, producer, topic, { values: ['x'.repeat(2_000)] });
  await endTransaction(writer, producer, true);
  expect((await waiting).records.length).toBeGreaterThan(2_000);
  writer.close();
});

test('a waiting fetch ends when its topic is deleted', async () => {
  const topic = await newTopic(cluster.admin);
  const waiting = fetchFrom(client, topic, 0, { maxWaitMs: 60_000, minBytes: 1_000 });
  // The broker reads the fetch before a request of a later connection.
  const other = await RawClient.connect(cluster.brokers);
  await sendBatch(other, topic, batchOf(['x']));
  other.close();
  await cluster.admin.deleteTopics({ topics: [topic] });
  expect((await waiting).error).toBeGreaterThan(0);
});

test('a fetch exceeds its limit by less than one batch', async () => {
  const topic = await newTopic(cluster.admin);
  const size = batchOf(['x'.repeat(100)]).length;
  for (let n = 0; n < 5; n += 1) await sendBatch(client, topic, batchOf(['x'.repeat(100)]));
  const { records } = await fetchFrom(client, topic, 0, { maxBytes: 3 * size });
  expect(records.subarray(0, 3 * size).length).toBe(3 * size);
  expect(records.length).toBeLessThan(4 * size);
});

test('a metadata request with an invalid topic name is refused', async () => {
  const response = await client.request(METADATA, 4, (body) => body.array(['no name'], body.string).boolean(true));
  response.int32();
  response.array(() => [response.int32(), response.string(), response.int32(), response.nullableString()]);
  response.nullableString();
  response.int32();
  expect(response.array(() => response.int16())[0]).toBe(17);
});

test('every version of ListOffsets returns the end of the log', async () => {
  const topic = await newTopic(cluster.admin);
  await sendBatch(client, topic, batchOf(['a', 'b']));
  for (const version of [1, 2, 3, 4, 5]) {
    const response = await client.request(LIST_OFFSETS, version, (body) => {
      body.int32(-1);
      if (version >= 2) body.int8(0);
      body.array([topic], (name) =>
        body.string(name).array([-1], (time) => {
          body.int32(0);
          if (version >= 4) body.int32(-1);
          body.int64(time);
        }),
      );
    });
    if (version >= 2) response.int32();
    response.array(() => {
      response.string();
      response.array(() => {
        expect([response.int32(), response.int16(), response.int64(), response.int64()]).toEqual([0, 0, -1, 2]);
        if (version >= 4) response.int32();
      });
    });
    expect(response.remaining).toBe(0);
  }
});
