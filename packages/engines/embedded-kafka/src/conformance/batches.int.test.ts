import { type Cluster, newName, newTopic, startCluster } from '../testing/cluster.ts';
import { batchOf, withChecksum, sendBatch } from '../testing/batches.ts';
import { fetchFrom } from '../testing/fetch-client.ts';
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

const endOf = async (topic: string) => (await cluster.admin.fetchTopicOffsets(topic))[0]!.offset;

const withMagic = (magic: number): Buffer => {
  const batch = batchOf(['x']);
  batch[16] = magic;
  return batch;
};

test('a batch with a wrong checksum is refused and not stored', async () => {
  const topic = await newTopic(cluster.admin);
  const damaged = batchOf(['x']);
  damaged[damaged.length - 2]! ^= 1;
  expect(await sendBatch(client, topic, damaged)).toMatchObject({ error: 2 });
  expect(await endOf(topic)).toBe('0');
});

test.each([
  ['a batch of format 1', () => withMagic(1), 87],
  ['a control batch', () => withChecksum(batchOf(['x'], { attributes: 0x20 })), 87],
  ['two batches for one partition', () => Buffer.concat([batchOf(['x']), batchOf(['y'])]), 87],
  ['no batch', () => Buffer.alloc(0), 87],
])('a produce request with %s is refused', async (_, make, error) => {
  expect(await sendBatch(client, await newTopic(cluster.admin), make())).toMatchObject({ error });
});

test('a batch for a missing topic is refused', async () => {
  expect(await sendBatch(client, newName('topic'), batchOf(['x']))).toMatchObject({ error: 3, baseOffset: -1 });
});

test('a fetch returns a batch unchanged, except for base offset and leader epoch', async () => {
  const topic = await newTopic(cluster.admin);
  await sendBatch(client, topic, batchOf(['a', 'b']));
  const batch = batchOf(['c', 'd', 'e']);
  await sendBatch(client, topic, Buffer.from(batch));
  const { records } = await fetchFrom(client, topic, 3);
  expect(records.readBigInt64BE(0)).toBe(2n);
  expect(records.subarray(16)).toEqual(batch.subarray(16));
});
