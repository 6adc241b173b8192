import { type Cluster, newName, newTopic, startCluster } from '../testing/cluster.ts';
import { batchOf, sendBatch } from '../testing/batches.ts';
import { RawClient } from '../testing/raw-client.ts';
import {
  TRANSACTIONAL,
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
  endOffset,
} from '../testing/transaction-client.ts';

let cluster: Cluster;
let client: RawClient;
beforeAll(async () => {
  cluster = await startCluster({ transactionCheckMs: 200 });
  client = await RawClient.connect(cluster.brokers);
});
afterAll(async () => {
  client.close();
  await cluster.stop();
});

test('ending without a transaction is refused, and so is a second, different end', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(client, newName('tx'));
  expect(await endTransaction(client, producer, true)).toBe(48);
  await addPartitions(client, producer, topic);
  expect(await endTransaction(client, producer, true)).toBe(0);
  expect(await endTransaction(client, producer, true)).toBe(0); // clients retry when a response is lost
  expect(await endTransaction(client, producer, false)).toBe(48);
});

test('a producer id of another transactional id is refused', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(client, newName('tx'));
  const stranger = { ...producer, producerId: producer.producerId + 1_000 };
  expect(await addPartitions(client, stranger, topic)).toEqual([49]);
  expect(await addPartitions(client, { ...producer, transactionalId: newName('tx') }, topic)).toEqual([49]);
  expect(await endTransaction(client, stranger, true)).toBe(49);
});

test('a missing partition is refused, with all partitions of the same request', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(client, newName('tx'));
  expect(await addPartitions(client, producer, topic, { partitions: [0, 7] })).toEqual(expect.arrayContaining([55, 3]));
});

test('a transaction timeout above the limit is refused', async () => {
  expect(await initProducer(client, newName('tx'), 3_600_000)).toMatchObject({ error: 50 });
});

test('a message for a partition outside of the transaction is refused', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(client, newName('tx'));
  expect(await sendInTransaction(client, producer, topic)).toMatchObject({ error: 48 });
  expect(await endOffset(client, topic)).toBe(0);
});

test('a message without a transaction is refused while its producer has one', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(client, newName('tx'));
  await addPartitions(client, producer, topic);
  await sendInTransaction(client, producer, topic);
  const { producerId, epoch } = producer;
  expect(await sendBatch(client, topic, batchOf(['x'], { producerId, epoch, sequence: 1 }))).toMatchObject({
    error: 48,
  });
  expect(await endTransaction(client, producer, true)).toBe(0);
});

test('a transactional message in a request without a transactional id is refused', async () => {
  const topic = await newTopic(cluster.admin);
  const { producerId, epoch } = await initProducer(client, newName('tx'));
  const batch = batchOf(['x'], { producerId, epoch, sequence: 0, attributes: TRANSACTIONAL });
  expect(await sendBatch(client, topic, batch)).toMatchObject({ error: 53 });
});
