import pg from 'pg';
import { UnsupportedSchemaVersion, WriterLockTaken, startKafka } from './index.ts';
import { batchOf, sendBatch } from './testing/batches.ts';
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
import { startProxy } from './testing/database-proxy.ts';
import { execute, newDatabase } from './testing/database.ts';
import { fetchFrom } from './testing/fetch-client.ts';
import { RawClient, commitOffset, commitOffsetNow } from './testing/raw-client.ts';
import { addPartitions, endTransaction, initProducer, sendInTransaction } from './testing/transaction-client.ts';

// What only the embedded broker promises: it keeps everything in a database, and lives with that one going away.
let database: Awaited<ReturnType<typeof newDatabase>>;
beforeEach(async () => {
  database = await newDatabase();
});
afterEach(() => database.drop());

const start = (port = 0, databaseUrl = database.url, more: object = {}) => startKafka({ databaseUrl, port, ...more });

test('a restart keeps topics, records, committed offsets and what idempotent producers had sent', async () => {
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

test('producers and consumers go on by themselves after a restart in the middle of their work', async () => {
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
  // At least once for the reader, but once in the log.
  expect(await readMessages(client, topic, values.length)).toHaveLength(values.length);
  await (await second!).stop();
});

test('while the database is away nothing is acknowledged, and afterwards everything works', async () => {
  const proxy = await startProxy(database.url);
  const kafka = await start(0, proxy.url);
  const admin = clientOf(kafka.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  const raw = await RawClient.connect(kafka.brokers);
  const batch = (sequence: number) => batchOf([`m${sequence}`], { producerId: 1, epoch: 0, sequence });
  await sendBatch(raw, topic, batch(0));
  proxy.cut();
  expect(await sendBatch(raw, topic, batch(1))).toEqual({ error: 56, baseOffset: -1 });
  const groupId = newName('group');
  expect(await commitOffsetNow(kafka.brokers, groupId, topic, 1)).toBe(15);
  expect(await sendBatch(raw, topic, batch(1))).toEqual({ error: 56, baseOffset: -1 });
  proxy.restore();
  await until(async () => (await sendBatch(raw, topic, batch(1))).error === 0);
  expect(await sendBatch(raw, topic, batch(1))).toEqual({ error: 0, baseOffset: 1 });
  expect(await commitOffset(kafka.brokers, groupId, topic, 1)).toBe(0);
  expect(await readValues(clientOf(kafka.brokers), topic, 2)).toEqual(['m0', 'm1']);
  raw.close();
  await admin.disconnect();
  await kafka.stop();
  await proxy.stop();
});

test('many appends that a broken session interrupts are each stored once', async () => {
  const kafka = await start();
  const client = clientOf(kafka.brokers);
  const admin = client.admin();
  await admin.connect();
  const topic = await newTopic(admin);
  await admin.disconnect();
  const producers = await Promise.all(Array.from({ length: 4 }, () => producerOf(client, { idempotent: true })));
  const sendAll = async (producer: (typeof producers)[number], name: number) => {
    for (let n = 0; n < 25; n += 1) {
      if (n === 10) await execute(database.url, END_WRITER);
      await producer.send({ topic, messages: [{ value: `${name}/${n}` }] });
    }
  };
  await Promise.all(producers.map(sendAll));
  const received = await readMessages(client, topic, 100);
  expect(new Set(received.map(({ value }) => String(value))).size).toBe(100);
  expect(received.map(({ offset }) => Number(offset))).toEqual(Array.from({ length: 100 }, (_, n) => n));
  await disconnectAll(...producers);
  await kafka.stop();
});

test('a broker waits for its database at the start', async () => {
  const proxy = await startProxy(database.url);
  proxy.cut();
  const lines: string[] = [];
  const starting = start(0, proxy.url, { log: (line: string) => lines.push(line) });
  await until(() => lines.length > 0);
  proxy.restore();
  const kafka = await starting;
  expect(lines).toEqual([expect.stringContaining('waiting for the database'), 'the database is available again']);
  await kafka.stop();
  await proxy.stop();
});

test('a second broker waits for the first to end, and writes only then', async () => {
  const first = await start();
  const lines: string[] = [];
  const starting = start(0, database.url, { log: (line: string) => lines.push(line) });
  await until(() => lines.length > 0);
  expect(lines).toEqual([expect.stringContaining('another broker writes to this database')]);
  await first.stop();
  const second = await starting;
  await second.stop();
});

test('a second broker gives up on a first that stays', async () => {
  const first = await start();
  await expect(startKafka({ databaseUrl: database.url, port: 0, lockWaitMs: 100 })).rejects.toThrow(WriterLockTaken);
  await first.stop();
});

test('data of another format is refused, and left alone', async () => {
  await (await start()).stop();
  await execute(database.url, 'update kafka.format set version = 99');
  await expect(start()).rejects.toThrow(UnsupportedSchemaVersion);
  await expect(start()).rejects.toThrow(/schema version 99.*supports version 2/);
});

test('a restart keeps open transactions and who was shut out', async () => {
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
    lastStable: 2,
    highWatermark: 3,
    aborted: [{ producerId: aborting.producerId, firstOffset: 0 }],
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

test('a transaction that was left open over a restart is aborted when its time is over', async () => {
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
  const after = await start(before.port, database.url, { transactionCheckMs: 50 });
  const again = await RawClient.connect(after.brokers);
  await until(async () => (await fetchFrom(again, topic, 0)).lastStable === 2);
  expect(await endTransaction(again, producer, true)).toBe(47);
  again.close();
  await after.stop();
});

test('data of the format before transactions is taken over', async () => {
  const before = await start();
  const raw = await RawClient.connect(before.brokers);
  const admin = clientOf(before.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  await admin.disconnect();
  await sendBatch(raw, topic, batchOf(['kept'], { producerId: 7, epoch: 0, sequence: 0 }));
  raw.close();
  await before.stop();
  await execute(database.url, TO_FORMAT_1);
  const after = await start(before.port);
  expect(await readValues(clientOf(after.brokers), topic, 1)).toEqual(['kept']);
  const again = await RawClient.connect(after.brokers);
  const producer = await initProducer(again, 'tx');
  await addPartitions(again, producer, topic);
  expect(await sendInTransaction(again, producer, topic)).toEqual({ error: 0, baseOffset: 1 });
  again.close();
  await after.stop();
});

test('retention takes the oldest batches away, by age and by size', async () => {
  const kafka = await start(0, database.url, { cleanupIntervalMs: 50 });
  const client = clientOf(kafka.brokers);
  const admin = client.admin();
  await admin.connect();
  const old = await newTopic(admin, 1, { 'retention.ms': '3600000' });
  const large = await newTopic(admin, 1, { 'retention.bytes': '1000' });
  const producer = await producerOf(client);
  const anHourAndMore = String(Date.now() - 3_700_000);
  await producer.send({ topic: old, messages: [{ value: 'old', timestamp: anHourAndMore }] });
  await producer.send({ topic: old, messages: [{ value: 'new' }] });
  for (let n = 0; n < 10; n += 1) await producer.send({ topic: large, messages: [{ value: 'x'.repeat(300) }] });
  const lowOf = async (topic: string) => Number((await admin.fetchTopicOffsets(topic))[0]!.low);
  await until(async () => (await lowOf(old)) === 1 && (await lowOf(large)) === 7);
  expect(await readValues(client, old, 1)).toEqual(['new']);
  const db = new pg.Client({ connectionString: database.url });
  await db.connect();
  const stored = async () => (await db.query('select count(*)::int as n from kafka.batch')).rows[0].n;
  await until(async () => (await stored()) === 4);
  await admin.deleteTopics({ topics: [large] });
  await until(async () => (await stored()) === 1);
  await db.end();
  await disconnectAll(admin, producer);
  await kafka.stop();
});

const TO_FORMAT_1 = `
  alter table kafka.producer drop open_since;
  drop table kafka.transaction, kafka.aborted_transaction, kafka.transaction_offset;
  update kafka.format set version = 1;`;

const END_WRITER = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'embedded-kafka' and datname = current_database()`;
