import { testDatabase } from '@cpg/platform/postgres/testing';
import { startKafka } from './index.ts';
import {
  clientOf,
  disconnectAll,
  newName,
  newTopic,
  producerOf,
  readMessages,
  readValues,
  until,
} from './testing/cluster.ts';
import { batchOf, sendBatch } from './testing/batches.ts';
import { RawClient, commitOffset, commitOffsetOnce } from './testing/raw-client.ts';
import { execute } from './testing/database.ts';
import { startProxy } from './testing/database-proxy.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

test('nothing is acknowledged during a database outage, and everything works after it', async () => {
  const proxy = await startProxy(database.url);
  const kafka = await startKafka({ databaseUrl: proxy.url, port: 0 });
  const admin = clientOf(kafka.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  const raw = await RawClient.connect(kafka.brokers);
  const batch = (sequence: number) => batchOf([`m${sequence}`], { producerId: 1, epoch: 0, sequence });
  await sendBatch(raw, topic, batch(0));
  proxy.cut();
  expect(await sendBatch(raw, topic, batch(1))).toEqual({ error: 56, baseOffset: -1 });
  const groupId = newName('group');
  expect(await commitOffsetOnce(kafka.brokers, groupId, topic, 1)).toBe(15);
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

test('concurrent appends are stored exactly once when the database session breaks', async () => {
  const kafka = await startKafka({ databaseUrl: database.url, port: 0 });
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

test('a broker waits for its database when it starts', async () => {
  const proxy = await startProxy(database.url);
  proxy.cut();
  const lines: string[] = [];
  const starting = startKafka({ databaseUrl: proxy.url, port: 0, log: (line) => lines.push(line) });
  await until(() => lines.length > 0);
  proxy.restore();
  const kafka = await starting;
  expect(lines).toEqual([expect.stringContaining('waiting for the database'), 'the database is available again']);
  await kafka.stop();
  await proxy.stop();
});

const END_WRITER = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'embedded-kafka' and datname = current_database()`;
