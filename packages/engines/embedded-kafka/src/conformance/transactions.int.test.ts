import { disconnectAll, follow, newName, newTopic, readValues, until } from '../testing/cluster.ts';
import { RawClient } from '../testing/raw-client.ts';
import {
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
  retryConcurrent,
} from '../testing/transaction-client.ts';
import { useTransactions } from '../testing/use-transactions.ts';

const cluster = useTransactions();
const { transactional, committed, readCommitted } = cluster;
const messages = (...values: string[]) => values.map((value) => ({ value }));
const everything = (topic: string, count: number) =>
  readValues(cluster.client, topic, count, { readUncommitted: true });

test('read_committed consumers see a transaction only once it is committed, and all of it', async () => {
  const topic = await newTopic(cluster.admin, 3);
  const producer = await transactional();
  const transaction = await producer.transaction();
  const spread = [0, 1, 2].map((partition) => ({ partition, value: `p${partition}` }));
  await transaction.send({ topic, messages: spread });
  await transaction.send({ topic, messages: spread });
  expect((await everything(topic, 6)).sort()).toEqual(['p0', 'p0', 'p1', 'p1', 'p2', 'p2']);
  const reader = await follow(cluster.client, topic);
  await until(() => reader.assigned().length === 3);
  expect(await readCommitted(topic, 0)).toMatchObject({ error: 0, records: Buffer.alloc(0) });
  expect(reader.received).toEqual([]);
  await transaction.commit();
  await until(() => reader.received.length === 6);
  await disconnectAll(producer, reader.consumer);
});

test('read_committed consumers see no message of an aborted transaction', async () => {
  const topic = await newTopic(cluster.admin);
  const producer = await transactional();
  const aborted = await producer.transaction();
  await aborted.send({ topic, messages: messages('no', 'neither') });
  await aborted.abort();
  await cluster.producer.send({ topic, messages: messages('plain') });
  const second = await producer.transaction();
  await retryConcurrent(() => second.send({ topic, messages: messages('yes') }));
  await second.commit();
  expect(await committed(topic, 2)).toEqual(['plain', 'yes']);
  expect(await everything(topic, 4)).toEqual(['no', 'neither', 'plain', 'yes']);
  await producer.disconnect();
});

test('a transaction may span topics', async () => {
  const [one, two] = [await newTopic(cluster.admin), await newTopic(cluster.admin)];
  const producer = await transactional();
  const transaction = await producer.transaction();
  await transaction.sendBatch({
    topicMessages: [
      { topic: one, messages: messages('a') },
      { topic: two, messages: messages('b') },
    ],
  });
  await transaction.commit();
  expect([await committed(one, 1), await committed(two, 1)]).toEqual([['a'], ['b']]);
  await producer.disconnect();
});

test('a transaction without messages can be committed and aborted', async () => {
  const producer = await transactional();
  await (await producer.transaction()).commit();
  await (await producer.transaction()).abort();
  await producer.disconnect();
});

test('consecutive transactions of one producer are all stored', async () => {
  const topic = await newTopic(cluster.admin);
  const client = await RawClient.connect(cluster.brokers);
  const producer = await initProducer(client, newName('tx'));
  for (let sequence = 0; sequence < 20; sequence += 1) {
    expect(await addPartitions(client, producer, topic)).toEqual([0]);
    // Each transaction adds a message and a marker.
    expect(await sendInTransaction(client, producer, topic, { sequence, values: [`m${sequence}`] })).toEqual({
      error: 0,
      baseOffset: 2 * sequence,
    });
    expect(await endTransaction(client, producer, sequence % 2 === 0)).toBe(0);
  }
  client.close();
  const kept = Array.from({ length: 10 }, (_, n) => `m${2 * n}`);
  expect(await committed(topic, 10)).toEqual(kept);
});
