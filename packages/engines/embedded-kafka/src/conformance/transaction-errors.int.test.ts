import { newName, newTopic } from '../testing/cluster.ts';
import { batchOf, sendBatch } from '../testing/batches.ts';
import {
  TRANSACTIONAL,
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
  endOffset,
} from '../testing/transaction-client.ts';
import { useTransactions } from '../testing/use-transactions.ts';

const cluster = useTransactions();

test('ending without a transaction is refused, and so is a second, different end', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'));
  expect(await endTransaction(cluster.raw, producer, true)).toBe(48);
  await addPartitions(cluster.raw, producer, topic);
  expect(await endTransaction(cluster.raw, producer, true)).toBe(0);
  expect(await endTransaction(cluster.raw, producer, true)).toBe(0); // clients retry when a response is lost
  expect(await endTransaction(cluster.raw, producer, false)).toBe(48);
});

test('a producer id of another transactional id is refused', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'));
  const stranger = { ...producer, producerId: producer.producerId + 1_000 };
  expect(await addPartitions(cluster.raw, stranger, topic)).toEqual([49]);
  expect(await addPartitions(cluster.raw, { ...producer, transactionalId: newName('tx') }, topic)).toEqual([49]);
  expect(await endTransaction(cluster.raw, stranger, true)).toBe(49);
});

test('a missing partition is refused, with all partitions of the same request', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'));
  expect(await addPartitions(cluster.raw, producer, topic, { partitions: [0, 7] })).toEqual(
    expect.arrayContaining([55, 3]),
  );
});

test('a transaction timeout above the limit is refused', async () => {
  expect(await initProducer(cluster.raw, newName('tx'), 3_600_000)).toMatchObject({ error: 50 });
});

test('a message for a partition outside of the transaction is refused', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'));
  expect(await sendInTransaction(cluster.raw, producer, topic)).toMatchObject({ error: 48 });
  expect(await endOffset(cluster.raw, topic)).toBe(0);
});

test('a message without a transaction is refused while its producer has one', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'));
  await addPartitions(cluster.raw, producer, topic);
  await sendInTransaction(cluster.raw, producer, topic);
  const { producerId, epoch } = producer;
  expect(await sendBatch(cluster.raw, topic, batchOf(['x'], { producerId, epoch, sequence: 1 }))).toMatchObject({
    error: 48,
  });
  expect(await endTransaction(cluster.raw, producer, true)).toBe(0);
});

test('a transactional message in a request without a transactional id is refused', async () => {
  const topic = await newTopic(cluster.admin);
  const { producerId, epoch } = await initProducer(cluster.raw, newName('tx'));
  const batch = batchOf(['x'], { producerId, epoch, sequence: 0, attributes: TRANSACTIONAL });
  expect(await sendBatch(cluster.raw, topic, batch)).toMatchObject({ error: 53 });
});
