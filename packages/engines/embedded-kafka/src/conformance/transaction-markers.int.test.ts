import { newName, newTopic, until } from '../testing/cluster.ts';
import { batchOf, sendBatch } from '../testing/batches.ts';
import { fetchFrom } from '../testing/fetch-client.ts';
import { RawClient } from '../testing/raw-client.ts';
import {
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
  endOffset,
} from '../testing/transaction-client.ts';
import { useTransactions } from '../testing/use-transactions.ts';

const cluster = useTransactions();
const { committed, readCommitted } = cluster;

test('read_committed stops at the last stable offset until the transaction ends', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'));
  await sendBatch(cluster.raw, topic, batchOf(['before']));
  await addPartitions(cluster.raw, producer, topic);
  await sendInTransaction(cluster.raw, producer, topic, { values: ['in', 'it'] });
  await sendBatch(cluster.raw, topic, batchOf(['after']));
  expect(await readCommitted(topic, 0)).toMatchObject({
    highWatermark: 4,
    lastStableOffset: 1,
    abortedTransactions: [],
  });
  expect((await readCommitted(topic, 0)).offsets).toEqual([0]);
  expect((await fetchFrom(cluster.raw, topic, 0)).offsets).toEqual([0, 1, 3]);
  expect(await endOffset(cluster.raw, topic, { readCommitted: true })).toBe(1);
  expect(await endOffset(cluster.raw, topic)).toBe(4);
  const waiting = await RawClient.connect(cluster.brokers);
  const decided = fetchFrom(waiting, topic, 1, { readCommitted: true, maxWaitMs: 20_000 });
  expect(await endTransaction(cluster.raw, producer, true)).toBe(0);
  expect((await decided).offsets[0]).toBe(1);
  waiting.close();
  await until(async () => (await endOffset(cluster.raw, topic, { readCommitted: true })) === 5);
  expect(await committed(topic, 4)).toEqual(['before', 'in', 'it', 'after']);
});

test('an aborted transaction is listed with its first offset and has an abort marker', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'));
  await sendBatch(cluster.raw, topic, batchOf(['before']));
  await addPartitions(cluster.raw, producer, topic);
  await sendInTransaction(cluster.raw, producer, topic, { values: ['in', 'it'] });
  await endTransaction(cluster.raw, producer, false);
  await until(async () => (await readCommitted(topic, 3)).offsets.length === 1);
  const fetched = await readCommitted(topic, 0);
  expect(fetched.offsets).toEqual([0, 1, 3]);
  expect(fetched.abortedTransactions).toEqual([{ producerId: producer.producerId, firstOffset: 1 }]);
  expect((await readCommitted(topic, 3)).abortedTransactions).toHaveLength(1);
  await sendBatch(cluster.raw, topic, batchOf(['after']));
  expect((await readCommitted(topic, 4)).abortedTransactions).toEqual([]);
  // Attributes: control and transactional. The key of its record: version 0, type 0 (abort).
  const marker = (await readCommitted(topic, 3)).records;
  expect(marker.readInt16BE(21)).toBe(0x30);
  expect(Number(marker.readBigInt64BE(43))).toBe(producer.producerId);
  expect(marker.subarray(61, 61 + 9).toString('hex')).toBe('200000000800000000');
});

test('a transaction past its timeout is aborted, and its producer is fenced', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await initProducer(cluster.raw, newName('tx'), 300);
  await addPartitions(cluster.raw, producer, topic);
  await sendInTransaction(cluster.raw, producer, topic, { values: ['late'] });
  await until(async () => (await endOffset(cluster.raw, topic, { readCommitted: true })) === 2);
  expect((await readCommitted(topic, 0)).abortedTransactions).toHaveLength(1);
  expect(await endTransaction(cluster.raw, producer, true, 1)).toBe(47);
  expect(await endTransaction(cluster.raw, producer, true, 2)).toBe(90);
  expect(await sendInTransaction(cluster.raw, producer, topic, { sequence: 1 })).toMatchObject({ error: 47 });
  const again = await initProducer(cluster.raw, producer.transactionalId);
  expect(again).toMatchObject({ error: 0, producerId: producer.producerId });
  expect(again.epoch).toBeGreaterThan(producer.epoch);
});
