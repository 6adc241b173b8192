import { freePort } from '@cpg/ports';
import { startKafka } from './index.ts';
import { clientOf, newName, newTopic, readValues, until } from './testing/cluster.ts';
import { batchOf, sendBatch } from './testing/batches.ts';
import { execute, newDatabase } from './testing/database.ts';
import { fetchFrom } from './testing/fetch-client.ts';
import { buildMain, run } from './testing/process.ts';
import { RawClient, commitOffset, onConnection } from './testing/raw-client.ts';
import {
  addPartitions,
  endOffset,
  endTransaction,
  initProducer,
  sendInTransaction,
} from './testing/transaction-client.ts';
import { blockStoring, endWriterSession } from './testing/writer-session.ts';

let database: Awaited<ReturnType<typeof newDatabase>>;
let built: Awaited<ReturnType<typeof buildMain>>;
beforeAll(async () => {
  built = await buildMain();
});
afterAll(() => built.remove());
beforeEach(async () => {
  database = await newDatabase();
});
afterEach(() => database.drop());

const start = async (port?: number) => startKafka({ databaseUrl: database.url, port: port ?? (await freePort()) });

const newTopicAt = async (brokers: string) => {
  const admin = clientOf(brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  await admin.disconnect();
  return topic;
};

/** A new topic, and a producer with an open transaction in its partition 0. */
const openTransaction = async (brokers: string, client: RawClient) => {
  const topic = await newTopicAt(brokers);
  const producer = await initProducer(client, newName('tx'));
  await addPartitions(client, producer, topic);
  return { topic, producer };
};

test('records of an open transaction are acknowledged and visible before they are stored; its end waits for them', async () => {
  const kafka = await start();
  const client = await RawClient.connect(kafka.brokers);
  const { topic, producer } = await openTransaction(kafka.brokers, client);
  const blocked = await blockStoring(database.url);
  const send = () => sendInTransaction(client, producer, topic, { values: ['a', 'b'] });
  expect(await send()).toEqual({ error: 0, baseOffset: 0 });
  expect(await fetchFrom(client, topic, 0)).toMatchObject({ highWatermark: 2, lastStableOffset: 0, offsets: [0] });
  expect(await fetchFrom(client, topic, 0, { readCommitted: true })).toMatchObject({ highWatermark: 2, offsets: [] });
  let ended = false;
  const ending = onConnection(kafka.brokers, (other) => endTransaction(other, producer, true)).finally(() => {
    ended = true;
  });
  expect(await endOffset(client, topic, { readCommitted: true })).toBe(0);
  expect(ended).toBe(false);
  await blocked.release();
  expect(await ending).toBe(0);
  await endWriterSession(database.url);
  expect(await readValues(clientOf(kafka.brokers), topic, 2)).toEqual(['a', 'b']);
  await until(async () => (await sendBatch(client, topic, batchOf(['c']))).error === 0);
  expect(await endTransaction(client, producer, true)).toBe(0);
  client.close();
  await kafka.stop();
});

test('a retry of a batch that is not stored yet is a duplicate', async () => {
  const kafka = await start();
  const client = await RawClient.connect(kafka.brokers);
  const { topic, producer } = await openTransaction(kafka.brokers, client);
  const sent = await Promise.all(
    [0, 1, 0, 1].map((sequence) => sendInTransaction(client, producer, topic, { sequence })),
  );
  expect(sent.map(({ baseOffset }) => baseOffset)).toEqual([0, 1, 0, 1]);
  expect(await endTransaction(client, producer, true)).toBe(0);
  expect(await sendInTransaction(client, producer, topic, { sequence: 1 })).toEqual({ error: 0, baseOffset: 1 });
  client.close();
  await kafka.stop();
});

/** Two topics, and a producer whose second transaction is open in the first of them. */
const secondTransaction = async (brokers: string, client: RawClient) => {
  const { topic: first, producer } = await openTransaction(brokers, client);
  const second = await newTopicAt(brokers);
  await addPartitions(client, producer, second);
  expect(await endTransaction(client, producer, true)).toBe(0);
  await addPartitions(client, producer, first);
  return { first, second, producer };
};

test('a partition that is added to an open transaction is stored with its first record', async () => {
  const kafka = await start();
  const client = await RawClient.connect(kafka.brokers);
  const { second, producer } = await secondTransaction(kafka.brokers, client);
  const blocked = await blockStoring(database.url);
  expect(await addPartitions(client, producer, second)).toEqual([0]);
  expect((await sendInTransaction(client, producer, second, { values: ['a'] })).error).toBe(0);
  await blocked.release();
  expect(await endTransaction(client, producer, true)).toBe(0);
  await endWriterSession(database.url);
  expect(await readValues(clientOf(kafka.brokers), second, 1)).toEqual(['a']);
  client.close();
  await kafka.stop();
});

test('the first partition of a transaction is stored before it is acknowledged', async () => {
  const kafka = await start();
  const client = await RawClient.connect(kafka.brokers);
  const { first, producer } = await secondTransaction(kafka.brokers, client);
  expect(await endTransaction(client, producer, true)).toBe(0);
  const blocked = await blockStoring(database.url);
  let added = false;
  const adding = addPartitions(client, producer, first).finally(() => {
    added = true;
  });
  await onConnection(kafka.brokers, (other) => fetchFrom(other, first, 0));
  expect(added).toBe(false);
  await blocked.release();
  expect(await adding).toEqual([0]);
  client.close();
  await kafka.stop();
});

test('an offset is committed after the records before it', async () => {
  const kafka = await start();
  const client = await RawClient.connect(kafka.brokers);
  const { topic, producer } = await openTransaction(kafka.brokers, client);
  await sendInTransaction(client, producer, topic, { values: ['a', 'b'] });
  expect(await commitOffset(kafka.brokers, newName('group'), topic, 2)).toBe(0);
  await endWriterSession(database.url);
  // The transaction is aborted, but its records are stored.
  await until(async () => (await fetchFrom(client, topic, 0)).offsets.join() === '0,2');
  client.close();
  await kafka.stop();
});

/** Loses the records that are not stored. Resolves once the broker at the port works again. */
const CRASHES: [string, (broker: ProcessBroker) => Promise<void>][] = [
  [
    'the broker is killed',
    async (broker) => {
      await broker.kill();
      await endWriterSession(database.url); // otherwise PostgreSQL would store the rows that it has already
    },
  ],
  ['the database session is lost', () => endWriterSession(database.url)],
];

type ProcessBroker = Awaited<ReturnType<typeof startProcess>>;

const startProcess = async () => {
  const port = await freePort();
  const brokers = `127.0.0.1:${port}`;
  const launch = async () => {
    const launched = run(built.main, { KAFKA_DATABASE_URL: database.url, KAFKA_PORT: String(port) });
    await until(() => launched.output().includes(`ready on ${brokers}`));
    return launched;
  };
  let program: Awaited<ReturnType<typeof launch>> | null = await launch();
  const end = async (signal: NodeJS.Signals) => {
    program?.process.kill(signal);
    await program?.ended;
    program = null;
  };
  return {
    brokers,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    startIfKilled: async () => {
      program ??= await launch();
    },
  };
};

test.each(CRASHES)(
  'when %s, unstored records are lost with their transaction, and their offsets with them',
  async (_, crash) => {
    const broker = await startProcess();
    let client = await RawClient.connect(broker.brokers);
    const { topic, producer } = await openTransaction(broker.brokers, client);
    await sendInTransaction(client, producer, topic, { values: ['stored'] });
    await commitOffset(broker.brokers, newName('group'), topic, 1);
    const blocked = await blockStoring(database.url);
    const lost = { sequence: 1, values: ['lost', 'lost', 'lost'] };
    expect(await sendInTransaction(client, producer, topic, lost)).toEqual({ error: 0, baseOffset: 1 });
    expect((await fetchFrom(client, topic, 1)).offsets).toEqual([1]);
    await crash(broker);
    await blocked.release();
    await broker.startIfKilled();
    client.close();
    client = await RawClient.connect(broker.brokers);

    await until(async () => (await initProducer(client, newName('tx'))).error === 0);
    expect(await endTransaction(client, producer, true)).toBe(47);
    expect(await addPartitions(client, producer, topic)).toEqual([47]);
    expect(await sendInTransaction(client, producer, topic, lost)).toMatchObject({ error: 47 });
    expect(await sendInTransaction(client, producer, topic, { sequence: 2 })).toMatchObject({ error: 47 });

    // A consumer has read up to offset 4. The marker of the aborted transaction follows, then the new records.
    const end = await endOffset(client, topic);
    expect(end).toBeGreaterThan(4);
    expect(await fetchFrom(client, topic, 4)).toMatchObject({ error: 0, highWatermark: end, offsets: [end - 1] });
    expect(await fetchFrom(client, topic, end)).toMatchObject({ error: 0, offsets: [] });
    const successor = await initProducer(client, producer.transactionalId);
    await addPartitions(client, successor, topic);
    expect(await sendInTransaction(client, successor, topic, { values: ['new'] })).toEqual({
      error: 0,
      baseOffset: end,
    });
    expect(await fetchFrom(client, topic, 4)).toMatchObject({ error: 0, offsets: [end - 1, end] });
    expect(await fetchFrom(client, topic, 0)).toMatchObject({ error: 0, offsets: [0, end - 1, end] });
    expect(await endTransaction(client, successor, true)).toBe(0);
    expect(await readValues(clientOf(broker.brokers), topic, 1)).toEqual(['new']);
    client.close();
    await broker.stop();
  },
);

test.each(CRASHES)('when %s, partitions that are not stored are lost with their transaction', async (_, crash) => {
  const broker = await startProcess();
  let client = await RawClient.connect(broker.brokers);
  const { second, producer } = await secondTransaction(broker.brokers, client);
  const blocked = await blockStoring(database.url);
  await addPartitions(client, producer, second);
  expect((await sendInTransaction(client, producer, second, { values: ['lost'] })).error).toBe(0);
  await crash(broker);
  await blocked.release();
  await broker.startIfKilled();
  client.close();
  client = await RawClient.connect(broker.brokers);
  const successor = await initProducer(client, newName('tx'));
  expect(await endTransaction(client, producer, true)).toBe(47);
  expect(await endOffset(client, second, { readCommitted: true })).toBe(await endOffset(client, second));
  await addPartitions(client, successor, second);
  expect((await sendInTransaction(client, successor, second, { values: ['new'] })).error).toBe(0);
  expect(await endTransaction(client, successor, true)).toBe(0);
  expect(await readValues(clientOf(broker.brokers), second, 1)).toEqual(['new']);
  client.close();
  await broker.stop();
});

test('a consumer at the end of a log with a gap waits there, across a clean stop too', async () => {
  const broker = await startProcess();
  let client = await RawClient.connect(broker.brokers);
  const { topic, producer } = await openTransaction(broker.brokers, client);
  await endTransaction(client, producer, false); // stored with the reservation of the transaction
  await broker.kill();
  await broker.startIfKilled();
  client = await RawClient.connect(broker.brokers);
  const end = await endOffset(client, topic);
  await broker.stop();
  await broker.startIfKilled();
  client = await RawClient.connect(broker.brokers);
  expect(await endOffset(client, topic)).toBe(end);
  for (const offset of [2, end]) {
    expect(await fetchFrom(client, topic, offset)).toMatchObject({ error: 0, highWatermark: end, offsets: [] });
  }
  expect(await sendBatch(client, topic, batchOf(['next']))).toEqual({ error: 0, baseOffset: end });
  for (const offset of [2, end]) expect((await fetchFrom(client, topic, offset)).offsets).toEqual([end]);
  client.close();
  await broker.stop();
});

test('a clean stop stores everything, and leaves no gap', async () => {
  const before = await start();
  const raw = await RawClient.connect(before.brokers);
  const { topic, producer } = await openTransaction(before.brokers, raw);
  await sendInTransaction(raw, producer, topic, { values: ['a', 'b'] });
  await before.stop();
  const after = await start(before.port);
  const client = await RawClient.connect(after.brokers);
  expect(await endOffset(client, topic)).toBe(2);
  expect(await sendInTransaction(client, producer, topic, { sequence: 2 })).toEqual({ error: 0, baseOffset: 2 });
  expect(await endTransaction(client, producer, true)).toBe(0);
  client.close();
  await after.stop();
});

test('another broker that wrote meanwhile decides where the logs end', async () => {
  const kafka = await start();
  const client = await RawClient.connect(kafka.brokers);
  const { topic } = await openTransaction(kafka.brokers, client);
  await execute(database.url, 'update kafka.format set writer = gen_random_uuid()');
  await endWriterSession(database.url);
  await until(async () => (await sendBatch(client, topic, batchOf(['x']))).error === 0);
  // The other broker may have given away all offsets that were reserved.
  expect((await fetchFrom(client, topic, 0)).offsets[0]).toBeGreaterThanOrEqual(1_000);
  client.close();
  await kafka.stop();
});
