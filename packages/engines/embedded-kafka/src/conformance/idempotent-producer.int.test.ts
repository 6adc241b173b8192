import { type Cluster, newTopic, producerOf, readValues, startCluster } from '../testing/cluster.ts';
import { batchOf, sendBatch } from '../testing/batches.ts';
import { RawClient } from '../testing/raw-client.ts';

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

const INIT_PRODUCER_ID = 22;

// A broker that just started may answer COORDINATOR_LOAD_IN_PROGRESS (14).
const newProducerId = async (): Promise<number> => {
  const response = await client.request(INIT_PRODUCER_ID, 1, (body) => body.string(null).int32(1000));
  response.int32();
  return response.int16() === 14 ? newProducerId() : response.int64();
};

const endOf = async (topic: string) => (await cluster.admin.fetchTopicOffsets(topic))[0]!.offset;

test('every producer gets a new producer id', async () => {
  const ids = [await newProducerId(), await newProducerId(), await newProducerId()];
  expect(new Set(ids).size).toBe(3);
  expect(Math.min(...ids)).toBeGreaterThanOrEqual(0);
});

test('a duplicate of one of the last five batches gets the offset of the stored batch', async () => {
  const topic = await newTopic(cluster.admin);
  const producerId = await newProducerId();
  const batch = (sequence: number) => batchOf([`m${sequence}`, 'x'], { producerId, epoch: 0, sequence });
  for (const n of [0, 1, 2, 3, 4, 5]) await sendBatch(client, topic, batch(2 * n));
  expect(await sendBatch(client, topic, batch(10))).toEqual({ error: 0, baseOffset: 10 });
  expect(await sendBatch(client, topic, batch(2))).toEqual({ error: 0, baseOffset: 2 });
  expect(await endOf(topic)).toBe('12');
  // The sixth batch back is unknown, so its duplicate cannot be recognised.
  expect((await sendBatch(client, topic, batch(0))).error).not.toBe(0);
  expect(await endOf(topic)).toBe('12');
});

test('a batch sent twice at the same time is stored once', async () => {
  const topic = await newTopic(cluster.admin);
  const producerId = await newProducerId();
  const send = () => sendBatch(client, topic, batchOf(['once'], { producerId, epoch: 0, sequence: 0 }));
  expect(await Promise.all([send(), send()])).toEqual([
    { error: 0, baseOffset: 0 },
    { error: 0, baseOffset: 0 },
  ]);
  expect(await readValues(cluster.client, topic, 1)).toEqual(['once']);
});

test('a gap in the sequence is refused until the missing batch arrives', async () => {
  const topic = await newTopic(cluster.admin);
  const producerId = await newProducerId();
  const batch = (sequence: number) => batchOf(['m'], { producerId, epoch: 0, sequence });
  await sendBatch(client, topic, batch(0));
  expect(await sendBatch(client, topic, batch(2))).toMatchObject({ error: 45 });
  expect(await sendBatch(client, topic, batch(1))).toEqual({ error: 0, baseOffset: 1 });
  expect(await sendBatch(client, topic, batch(2))).toEqual({ error: 0, baseOffset: 2 });
});

test('an older epoch is refused, and a newer epoch starts at sequence 0', async () => {
  const topic = await newTopic(cluster.admin);
  const producerId = await newProducerId();
  const batch = (epoch: number, sequence: number) => batchOf(['m'], { producerId, epoch, sequence });
  await sendBatch(client, topic, batch(0, 0));
  expect(await sendBatch(client, topic, batch(1, 5))).toMatchObject({ error: 45 });
  expect(await sendBatch(client, topic, batch(1, 0))).toEqual({ error: 0, baseOffset: 1 });
  expect(await sendBatch(client, topic, batch(0, 1))).toMatchObject({ error: 47 });
});

test('kafkajs stores each message of an idempotent producer once', async () => {
  const values = Array.from({ length: 20 }, (_, n) => String(n));
  const topic = await newTopic(cluster.admin, 3);
  const idempotent = await producerOf(cluster.client, { idempotent: true });
  for (const value of values) await idempotent.send({ topic, messages: [{ key: value, value }] });
  await idempotent.disconnect();
  const stored = await readValues(cluster.client, topic, 20);
  expect(stored.sort((a, b) => Number(a) - Number(b))).toEqual(values);
});
