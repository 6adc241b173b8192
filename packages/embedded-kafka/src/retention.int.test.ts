import pg from 'pg';
import { startKafka } from './index.ts';
import { clientOf, disconnectAll, newTopic, producerOf, readValues, until } from './testing/cluster.ts';
import { newDatabase } from './testing/database.ts';

let database: Awaited<ReturnType<typeof newDatabase>>;
beforeEach(async () => {
  database = await newDatabase();
});
afterEach(() => database.drop());

test('retention deletes the oldest batches, by age and by size', async () => {
  const kafka = await startKafka({ databaseUrl: database.url, port: 0, cleanupIntervalMs: 50 });
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
