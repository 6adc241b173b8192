import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '@cpg/platform/postgres/testing';
import type { Admin } from 'kafkajs';
import pg from 'pg';
import { type Kafka, startKafka } from './index.ts';
import { clientOf, disconnectAll, newTopic, producerOf, readValues, until } from './testing/cluster.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let db: pg.Client;
let kafka: Kafka;
let admin: Admin;
beforeEach(async () => {
  database = await testDatabase();
  db = new pg.Client({ connectionString: database.url });
  await db.connect();
});
afterEach(async () => {
  await admin.disconnect();
  await kafka.stop();
  await db.end();
  await database.drop();
});

const start = async (settings: object) => {
  kafka = await startKafka({ databaseUrl: database.url, port: 0, ...settings });
  admin = clientOf(kafka.brokers).admin();
  await admin.connect();
};

const countOf = async (table: string) => (await db.query(`select count(*)::int as n from kafka.${table}`)).rows[0].n;
const storedBatches = () => countOf('batch');
const bytesOnDisk = async () =>
  Number((await db.query(`select pg_table_size('kafka.batch') as bytes`)).rows[0].bytes as string);

/** Asks rarely: VACUUM cuts a file off only while nobody reads the table. */
const untilReturnedToDisk = async () => {
  while ((await bytesOnDisk()) > 200_000) await sleep(100);
};

/** The interval is long: only a request starts a run. */
const ON_REQUEST = { cleanupIntervalMs: 3_600_000, cleanupDelayMs: 10 };

const fill = async (topic: string) => {
  const producer = await producerOf(clientOf(kafka.brokers));
  for (let n = 0; n < 20; n += 1) await producer.send({ topic, messages: [{ value: 'x'.repeat(100_000) }] });
  await producer.disconnect();
};

test('retention deletes the oldest batches, by age and by size', async () => {
  await start({ cleanupIntervalMs: 50 });
  const client = clientOf(kafka.brokers);
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
  await until(async () => (await storedBatches()) === 4);
  await admin.deleteTopics({ topics: [large] });
  await until(async () => (await storedBatches()) === 1);
  await disconnectAll(producer);
});

test('deleted records leave the database and the disk at once', async () => {
  await start(ON_REQUEST);
  const topic = await newTopic(admin);
  await fill(topic);
  expect(await bytesOnDisk()).toBeGreaterThan(2_000_000);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '20' }] });
  await until(async () => (await storedBatches()) === 0);
  await untilReturnedToDisk();
});

test('the records of a deleted topic leave the database and the disk at once', async () => {
  await start(ON_REQUEST);
  const topic = await newTopic(admin);
  await fill(topic);
  await admin.deleteTopics({ topics: [topic] });
  await until(async () => (await countOf('topic')) === 0);
  expect(await storedBatches()).toBe(0);
  await untilReturnedToDisk();
});

test('a broker that stopped before the rows were deleted deletes them after its next start', async () => {
  await start({ cleanupIntervalMs: 3_600_000, cleanupDelayMs: 3_600_000 });
  const topic = await newTopic(admin);
  await fill(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '19' }] });
  expect(await storedBatches()).toBe(20);
  await admin.disconnect();
  await kafka.stop();
  await start(ON_REQUEST);
  await until(async () => (await storedBatches()) === 1);
});
