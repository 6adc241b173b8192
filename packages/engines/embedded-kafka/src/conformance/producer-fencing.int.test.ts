import { disconnectAll, newName, newTopic } from '../testing/cluster.ts';
import {
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
  retryConcurrent,
} from '../testing/transaction-client.ts';
import { useTransactions } from '../testing/use-transactions.ts';

const cluster = useTransactions();
const { transactional, committed } = cluster;
const messages = (...values: string[]) => values.map((value) => ({ value }));

test('a new producer with the same transactional id keeps the producer id and gets a later epoch', async () => {
  const name = newName('tx');
  const first = await initProducer(cluster.raw, name);
  const second = await initProducer(cluster.raw, name);
  expect(first).toMatchObject({ error: 0, epoch: 0 });
  expect(second).toMatchObject({ error: 0, producerId: first.producerId, epoch: 1 });
});

test('a new producer aborts the open transaction of its predecessor and fences it', async () => {
  const topic = await newTopic(cluster.admin);
  const name = newName('tx');
  const old = await initProducer(cluster.raw, name);
  await addPartitions(cluster.raw, old, topic);
  await sendInTransaction(cluster.raw, old, topic, { values: ['old'] });
  const successor = await initProducer(cluster.raw, name);
  expect(await sendInTransaction(cluster.raw, old, topic, { sequence: 1 })).toMatchObject({ error: 47 });
  expect(await addPartitions(cluster.raw, old, topic, { version: 1 })).toEqual([47]);
  expect(await addPartitions(cluster.raw, old, topic, { version: 2 })).toEqual([90]);
  expect(await endTransaction(cluster.raw, old, true, 1)).toBe(47);
  expect(await endTransaction(cluster.raw, old, true, 2)).toBe(90);
  await addPartitions(cluster.raw, successor, topic);
  expect(await sendInTransaction(cluster.raw, successor, topic, { values: ['new'] })).toMatchObject({ error: 0 });
  expect(await endTransaction(cluster.raw, successor, true)).toBe(0);
  expect(await committed(topic, 1)).toEqual(['new']);
});

test('a new producer fences predecessors that were idle or had not written yet', async () => {
  const topic = await newTopic(cluster.admin);
  const name = newName('tx');
  const idle = await initProducer(cluster.raw, name);
  const adding = await initProducer(cluster.raw, name);
  expect(await addPartitions(cluster.raw, adding, topic)).toEqual([0]);
  const successor = await initProducer(cluster.raw, name);
  expect(await addPartitions(cluster.raw, idle, topic)).toEqual([47]);
  expect(await sendInTransaction(cluster.raw, adding, topic)).toMatchObject({ error: 47 });
  await addPartitions(cluster.raw, successor, topic);
  expect(await sendInTransaction(cluster.raw, successor, topic, { values: ['new'] })).toMatchObject({ error: 0 });
  expect(await endTransaction(cluster.raw, successor, true)).toBe(0);
  expect(await committed(topic, 1)).toEqual(['new']);
});

test('a paused producer cannot write after a successor has started', async () => {
  const topic = await newTopic(cluster.admin);
  const name = newName('tx');
  const paused = await transactional(name);
  const first = await paused.transaction();
  await first.send({ topic, messages: messages('first') });
  await first.commit();
  const open = await paused.transaction();
  await retryConcurrent(() => open.send({ topic, messages: messages('half done') }));
  const successor = await transactional(name);
  const taken = await successor.transaction();
  await expect(open.send({ topic, messages: messages('too late') })).rejects.toMatchObject({
    type: 'INVALID_PRODUCER_EPOCH',
  });
  await expect(open.commit()).rejects.toThrow();
  await taken.send({ topic, messages: messages('second') });
  await taken.commit();
  expect(await committed(topic, 2)).toEqual(['first', 'second']);
  await disconnectAll(paused, successor);
});
