import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import type { Kafka } from 'kafkajs';
import { startKafka, UnsupportedSchemaVersion } from './index.ts';
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
import { execute } from './testing/database.ts';
import { fetchFrom } from './testing/fetch-client.ts';
import { RawClient, commitOffset } from './testing/raw-client.ts';
import { addPartitions, endTransaction, initProducer, sendInTransaction } from './testing/transaction-client.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

const start = async (port?: number) =>
  startKafka({ databaseUrl: database.url, port: port ?? (await freePort()), transactionCheckMs: 50 });

/** A running broker, and a topic of it. */
interface Broker {
  readonly brokers: string;
  readonly client: Kafka;
  readonly raw: RawClient;
  readonly topic: string;
}

const numbered = (sequence: number) => batchOf([`m${sequence}`], { producerId: 7, epoch: 0, sequence });
const sendNumbered = async ({ raw, topic }: Broker, ...sequences: number[]) => {
  for (const sequence of sequences) await sendBatch(raw, topic, numbered(sequence));
};

/** Uses a broker, and resolves to what has to be true after its restart. */
const KEPT: Readonly<Record<string, (before: Broker) => Promise<(after: Broker) => Promise<void>>>> = {
  'topics and their records': async (before) => {
    await sendNumbered(before, 0, 1, 2);
    return async ({ client, topic }) => expect(await readValues(client, topic, 3)).toEqual(['m0', 'm1', 'm2']);
  },
  'committed offsets': async (before) => {
    const groupId = newName('group');
    await sendNumbered(before, 0, 1, 2);
    expect(await commitOffset(before.brokers, groupId, before.topic, 2)).toBe(0);
    return async (after) => {
      await sendNumbered(after, 3);
      const { consumer, received } = await follow(after.client, after.topic, { groupId });
      await until(() => received.length === 2);
      await consumer.disconnect();
      expect(received.map(({ offset }) => offset)).toEqual(['2', '3']);
    };
  },
  'the sequences of idempotent producers': async (before) => {
    await sendNumbered(before, 0, 1, 2);
    return async ({ raw, client, topic }) => {
      for (const sent of [0, 1, 2])
        expect(await sendBatch(raw, topic, numbered(sent))).toEqual({ error: 0, baseOffset: sent });
      expect(await sendBatch(raw, topic, numbered(4))).toMatchObject({ error: 45 });
      expect(await sendBatch(raw, topic, numbered(3))).toEqual({ error: 0, baseOffset: 3 });
      expect(await readValues(client, topic, 4)).toEqual(['m0', 'm1', 'm2', 'm3']);
    };
  },
  'open and aborted transactions': async ({ raw, topic }) => {
    const producer = await initProducer(raw, 'tx');
    const aborting = await initProducer(raw, 'other');
    await addPartitions(raw, aborting, topic);
    await sendInTransaction(raw, aborting, topic, { values: ['no'] });
    await endTransaction(raw, aborting, false);
    await addPartitions(raw, producer, topic);
    await sendInTransaction(raw, producer, topic, { values: ['before'] });
    return async (after) => {
      expect(await fetchFrom(after.raw, topic, 0, { readCommitted: true })).toMatchObject({
        lastStableOffset: 2,
        highWatermark: 3,
        abortedTransactions: [{ producerId: aborting.producerId, firstOffset: 0 }],
      });
      const send = (sequence: number, value: string) =>
        sendInTransaction(after.raw, producer, topic, { sequence, values: [value] });
      expect(await send(0, 'before')).toEqual({ error: 0, baseOffset: 2 });
      expect(await send(1, 'after')).toMatchObject({ error: 0 });
      expect(await endTransaction(after.raw, producer, true)).toBe(0);
      expect(await readValues(after.client, topic, 2)).toEqual(['before', 'after']);
    };
  },
  'the timeouts of open transactions': async ({ raw, topic }) => {
    const producer = await initProducer(raw, 'tx', 500);
    await addPartitions(raw, producer, topic);
    await sendInTransaction(raw, producer, topic);
    return async (after) => {
      await until(async () => (await fetchFrom(after.raw, topic, 0)).lastStableOffset === 2);
      expect(await endTransaction(after.raw, producer, true)).toBe(47);
    };
  },
  'the fences of producers': async ({ raw, topic }) => {
    const old = await initProducer(raw, 'tx');
    const producer = await initProducer(raw, 'tx');
    return async (after) => {
      expect(await addPartitions(after.raw, old, topic)).toEqual([47]);
      expect(await addPartitions(after.raw, producer, topic)).toEqual([0]);
    };
  },
};

test.each(Object.entries(KEPT))('a restart keeps %s', async (_, use) => {
  const before = await start();
  const { brokers, port } = before;
  const client = clientOf(brokers);
  const admin = client.admin();
  await admin.connect();
  const topic = await newTopic(admin, 2, { 'retention.ms': '-1' });
  await admin.disconnect();
  const raw = await RawClient.connect(brokers);
  const isKept = await use({ brokers, client, raw, topic });
  raw.close();
  await before.stop();

  const after = await start(port);
  const again = await RawClient.connect(brokers);
  await isKept({ brokers, client: clientOf(brokers), raw: again, topic });
  again.close();
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

test.each([4, 99])('a start on data of schema version %s is refused and changes nothing', async (version) => {
  await (await start()).stop();
  await execute(database.url, `update kafka.format set version = ${version}`);
  await expect(start()).rejects.toThrow(UnsupportedSchemaVersion);
  await expect(start()).rejects.toThrow(
    `schema version ${version}, but this broker supports version 5: run the release`,
  );
  await execute(database.url, 'update kafka.format set version = 5');
  await (await start()).stop();
});
