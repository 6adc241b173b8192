import { type Cluster, newName, newTopic, producerOf, startCluster } from './testing/cluster.ts';
import { batchWith, recordOf, sendBatch } from './testing/batches.ts';
import { RawClient, onConnection } from './testing/raw-client.ts';

const [API_VERSIONS, ADD_OFFSETS_TO_TXN, TXN_OFFSET_COMMIT] = [18, 25, 28];

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

test('ApiVersions does not advertise the APIs of transactional offset commits', async () => {
  const client = await RawClient.connect(cluster.brokers);
  const response = await client.request(API_VERSIONS, 0, () => {});
  expect(response.int16()).toBe(0);
  const keys = response.array(() => [response.int16(), response.int16(), response.int16()][0]);
  expect(keys).not.toContain(ADD_OFFSETS_TO_TXN);
  expect(keys).not.toContain(TXN_OFFSET_COMMIT);
  client.close();
});

test.each([ADD_OFFSETS_TO_TXN, TXN_OFFSET_COMMIT])(
  'a request for the unsupported API %i closes its connection',
  async (key) => {
    const client = await RawClient.connect(cluster.brokers);
    client.send(key, 1, (body) => body.string('tx').int64(0).int16(0).string('group'));
    await client.closed;
  },
);

test('kafkajs reports that the broker does not support offsets in a transaction', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await producerOf(cluster.client, { transactionalId: newName('tx'), idempotent: true });
  const transaction = await producer.transaction();
  const offsets = {
    consumerGroupId: newName('group'),
    topics: [{ topic, partitions: [{ partition: 0, offset: '1' }] }],
  };
  await expect(transaction.sendOffsets(offsets)).rejects.toThrow('does not support the requested API');
  await transaction.abort();
  await producer.disconnect();
});

const UNSUPPORTED_COMPRESSION_TYPE = 76;

test.each([
  ['snappy', 2],
  ['lz4', 3],
  ['zstd', 4],
])('a batch compressed with %s is refused', async (_, attributes) => {
  const topic = await newTopic(cluster.admin);
  const sent = await onConnection(cluster.brokers, (client) =>
    sendBatch(client, topic, batchWith(recordOf('x', {}), { attributes })),
  );
  expect(sent).toMatchObject({ error: UNSUPPORTED_COMPRESSION_TYPE });
});
