import { batchOf, batchWith, recordOf, sendBatch } from './testing/batches.ts';
import { type Cluster, newTopic, startCluster } from './testing/cluster.ts';
import { onConnection } from './testing/raw-client.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

// Apache Kafka checks this for compressed batches only.
test.each([
  ['twice', [0, 0, 0]],
  ['in another order', [0, 2, 1]],
  ['beyond the batch', [5, 6, 7]],
])('a batch with offsets %s is refused', async (_, deltas) => {
  const topic = await newTopic(cluster.admin);
  const records = Buffer.concat(deltas.map((offsetDelta) => recordOf('x', { offsetDelta })));
  await onConnection(cluster.brokers, async (client) => {
    expect(await sendBatch(client, topic, batchWith(records, { count: 3 }))).toMatchObject({ error: 87 });
    expect(await sendBatch(client, topic, batchOf(['next']))).toEqual({ error: 0, baseOffset: 0 });
  });
});
