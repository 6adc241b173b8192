import {
  type Cluster,
  disconnectAll,
  newName,
  newTopic,
  producerOf,
  readValues,
  startCluster,
} from '../testing/cluster.ts';
import { RawClient } from '../testing/raw-client.ts';
import {
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
  retryConcurrent,
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

const transactional = (transactionalId = newName('tx')) =>
  producerOf(cluster.client, { transactionalId, idempotent: true, maxInFlightRequests: 1 });
const messages = (...values: string[]) => values.map((value) => ({ value }));
const committed = (topic: string, count: number) => readValues(cluster.client, topic, count);

test('a new producer with the same transactional id keeps the producer id and gets a later epoch', async () => {
  const name = newName('tx');
  const first = await initProducer(client, name);
  const second = await initProducer(client, name);
  expect(first).toMatchObject({ error: 0, epoch: 0 });
  expect(second).toMatchObject({ error: 0, producerId: first.producerId, epoch: 1 });
});

test('a new producer aborts the open transaction of its predecessor and fences it', async () => {
  const topic = await newTopic(cluster.admin);
  const name = newName('tx');
  const old = await initProducer(client, name);
  await addPartitions(client, old, topic);
  await sendInTransaction(client, old, topic, { values: ['old'] });
  const successor = await initProducer(client, name);
  expect(await sendInTransaction(client, old, topic, { sequence: 1 })).toMatchObject({ error: 47 });
  expect(await addPartitions(client, old, topic, { version: 1 })).toEqual([47]);
  expect(await addPartitions(client, old, topic, { version: 2 })).toEqual([90]);
  expect(await endTransaction(client, old, true, 1)).toBe(47);
  expect(await endTransaction(client, old, true, 2)).toBe(90);
  await addPartitions(client, successor, topic);
  expect(await sendInTransaction(client, successor, topic, { values: ['new'] })).toMatchObject({ error: 0 });
  expect(await endTransaction(client, successor, true)).toBe(0);
  expect(await committed(topic, 1)).toEqual(['new']);
});

test('a new producer fences predecessors that were idle or had not written yet', async () => {
  const topic = await newTopic(cluster.admin);
  const name = newName('tx');
  const idle = await initProducer(client, name);
  const adding = await initProducer(client, name);
  expect(await addPartitions(client, adding, topic)).toEqual([0]);
  const successor = await initProducer(client, name);
  expect(await addPartitions(client, idle, topic)).toEqual([47]);
  expect(await sendInTransaction(client, adding, topic)).toMatchObject({ error: 47 });
  await addPartitions(client, successor, topic);
  expect(await sendInTransaction(client, successor, topic, { values: ['new'] })).toMatchObject({ error: 0 });
  expect(await endTransaction(client, successor, true)).toBe(0);
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
