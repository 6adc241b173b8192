import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import { startKafka } from './index.ts';
import {
  clientOf,
  disconnectAll,
  follow,
  newName,
  newTopic,
  producerOf,
  readMessages,
  readValues,
  until,
} from './testing/cluster.ts';
import { batchOf, sendBatch } from './testing/batches.ts';
import { fetchFrom } from './testing/fetch-client.ts';
import { RawClient, commitOffset } from './testing/raw-client.ts';
import { addPartitions, endTransaction, initProducer, sendInTransaction } from './testing/transaction-client.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

const start = async (port?: number) => startKafka({ databaseUrl: database.url, port: port ?? (await freePort()) });

test('a restart keeps topics, records, committed offsets and the sequences of idempotent producers', async () => {
  const before = await start();
  const { port, brokers } = before;
  const admin = clientOf(brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin, 2, { 'retention.ms': '-1' });
  const groupId = newName('group');
  const raw = await RawClient.connect(brokers);
  const batches = [0, 1, 2].map((sequence) => batchOf([`m${sequence}`], { producerId: 7, epoch: 0, sequence }));
  for (const batch of batches) await sendBatch(raw, topic, Buffer.from(batch));
  expect(await commitOffset(brokers, groupId, topic, 2)).toBe(0);
  await admin.disconnect();
  raw.close();
  await before.stop();

  const after = await start(port);
  const again = await RawClient.connect(after.brokers);
  for (const n of [0, 1, 2]) {
    expect(await sendBatch(again, topic, Buffer.from(batches[n]!))).toEqual({ error: 0, baseOffset: n });
  }
  expect(await sendBatch(again, topic, batchOf(['m4'], { producerId: 7, epoch: 0, sequence: 4 }))).toMatchObject({
    error: 45,
  });
  expect(await sendBatch(again, topic, batchOf(['m3'], { producerId: 7, epoch: 0, sequence: 3 }))).toEqual({
    error: 0,
    baseOffset: 3,
  });
  again.close();
  const client = clientOf(after.brokers);
  expect(await readValues(client, topic, 4)).toEqual(['m0', 'm1', 'm2', 'm3']);
  const { consumer, received } = await follow(client, topic, { groupId });
  await until(() => received.length === 2);
  await consumer.disconnect();
  expect(received.map(({ offset }) => offset)).toEqual(['2', '3']);
  await after.stop();
});

test('producers and consumers continue without help after a restart', async () => {
  const first = await start();
  const client = clientOf(first.brokers);
  const admin = client.admin();
  await admin.connect();
  const topic = await newTopic(admin, 3);
  await admin.disconnect();
  const producer = await producerOf(client, { idempotent: true });
  const { consumer, received } = await follow(client, topic);
  const values = Array.from({ length: 60 }, (_, n) => String(n));
  let second: Promise<Awaited<ReturnType<typeof start>>> | undefined;
  for (const value of values) {
    if (value === '30') second = first.stop().then(() => start(first.port));
    await producer.send({ topic, messages: [{ key: value, value }] });
  }
  const seen = () => new Set(received.map(({ value }) => String(value)));
  await until(() => seen().size === values.length);
  await disconnectAll(producer, consumer);
  // Consumers get messages at least once, but the log has each one exactly once.
  expect(await readMessages(client, topic, values.length)).toHaveLength(values.length);
  await (await second!).stop();
});

test('a restart keeps open transactions and fenced producers', async () => {
  const before = await start();
  const admin = clientOf(before.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  const raw = await RawClient.connect(before.brokers);
  const old = await initProducer(raw, 'tx');
  const producer = await initProducer(raw, 'tx');
  const aborting = await initProducer(raw, 'other');
  await addPartitions(raw, aborting, topic);
  await sendInTransaction(raw, aborting, topic, { values: ['no'] });
  await endTransaction(raw, aborting, false);
  await addPartitions(raw, producer, topic);
  await sendInTransaction(raw, producer, topic, { values: ['before'] });
  await admin.disconnect();
  raw.close();
  await before.stop();

  const after = await start(before.port);
  const again = await RawClient.connect(after.brokers);
  expect(await fetchFrom(again, topic, 0, { readCommitted: true })).toMatchObject({
    lastStableOffset: 2,
    highWatermark: 3,
    abortedTransactions: [{ producerId: aborting.producerId, firstOffset: 0 }],
  });
  expect(await addPartitions(again, old, topic)).toEqual([47]);
  expect(await sendInTransaction(again, producer, topic, { values: ['before'] })).toEqual({ error: 0, baseOffset: 2 });
  expect(await sendInTransaction(again, producer, topic, { sequence: 1, values: ['after'] })).toMatchObject({
    error: 0,
  });
  expect(await endTransaction(again, producer, true)).toBe(0);
  const client = clientOf(after.brokers);
  expect(await readValues(client, topic, 2)).toEqual(['before', 'after']);
  again.close();
  await after.stop();
});

test('a transaction that was open during a restart is aborted after its timeout', async () => {
  const before = await start();
  const admin = clientOf(before.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  await admin.disconnect();
  const raw = await RawClient.connect(before.brokers);
  const producer = await initProducer(raw, 'tx', 500);
  await addPartitions(raw, producer, topic);
  await sendInTransaction(raw, producer, topic);
  raw.close();
  await before.stop();
  const after = await startKafka({ databaseUrl: database.url, port: before.port, transactionCheckMs: 50 });
  const again = await RawClient.connect(after.brokers);
  await until(async () => (await fetchFrom(again, topic, 0)).lastStableOffset === 2);
  expect(await endTransaction(again, producer, true)).toBe(47);
  again.close();
  await after.stop();
});
