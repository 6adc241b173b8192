import { setTimeout as sleep } from 'node:timers/promises';
import { deadLetterTopicOf } from '@cpg/contracts';
import { createLogger } from '@cpg/runtime';
import {
  AssignerProtocol,
  type ConsumerConfig,
  type Kafka,
  type PartitionAssigner,
  PartitionAssigners,
  Partitioners,
} from 'kafkajs';
import { z } from 'zod';
import { createKafka } from './create-kafka.ts';
import { consume } from './consume.ts';
import { startBroker } from './testing/jest-broker.ts';
import { ensureTopics } from './topics.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const Numbered = z.object({ n: z.int() });
const closing: (() => unknown)[] = [];
let kafka: Kafka;

beforeAll(async () => {
  const server = await startBroker();
  kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'test', log });
  closing.push(server.stop);
});

afterAll(async () => {
  for (const close of closing) await close();
});

const send = async (topic: string, values: (string | null)[]) => {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages: values.map((value) => ({ key: 'k', value })) });
  await producer.disconnect();
};

const until = async (look: () => boolean) => {
  while (!look()) await sleep(20);
};

/** As another kind of client would deal partitions out. */
const foreignAssigner: PartitionAssigner = (config) => ({
  ...PartitionAssigners.roundRobin(config),
  name: 'foreign',
  protocol: ({ topics }) => ({
    name: 'foreign',
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }),
  }),
});

/** What was parked of a topic: its value and the reason. */
const parkedOf = async (topic: string, count: number) => {
  const parked: { value: string | undefined; reason: string }[] = [];
  const consumer = kafka.consumer({ groupId: `parked-${topic}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic: deadLetterTopicOf(topic), fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) =>
      void parked.push({ value: message.value?.toString(), reason: String(message.headers?.reason) }),
  });
  await until(() => parked.length >= count);
  await consumer.disconnect();
  return parked;
};

test('what cannot be read is parked with the reason, and the rest is handled', async () => {
  await ensureTopics(kafka, ['unreadable'], { partitions: 1, replication: 1 });
  await send('unreadable', ['{"n":1}', 'not json', null, '{"n":"two"}', '{"n":3}']);
  const handled: number[] = [];
  const consumption = consume({
    kafka,
    groupId: 'reader',
    topics: [{ name: 'unreadable', message: Numbered }],
    handle: async (messages) => void handled.push(...messages.map(({ n }) => n)),
    isTransientError: () => false,
    log,
  });
  await until(() => handled.length === 2);
  await consumption.stop();
  expect(handled).toEqual([1, 3]);
  const parked = await parkedOf('unreadable', 3);
  expect(parked.map(({ value }) => value)).toEqual(['not json', undefined, '{"n":"two"}']);
  expect(parked[0]!.reason).toMatch(/not JSON/);
});

test('a message that always fails is parked alone; one that fails during an outage waits', async () => {
  await ensureTopics(kafka, ['failing'], { partitions: 1, replication: 1 });
  await send(
    'failing',
    [1, 2, 3, 4].map((n) => JSON.stringify({ n })),
  );
  const handled = new Set<number>();
  let outages = 8;
  class Outage extends Error {}
  const consumption = consume({
    kafka,
    groupId: 'failer',
    topics: [{ name: 'failing', message: Numbered }],
    handle: async (messages) => {
      for (const { n } of messages) {
        if (n === 2) throw new Error('two is never right');
        if (n === 3 && (outages -= 1) > 0) throw new Outage('not now');
        handled.add(n);
      }
    },
    isTransientError: (error) => error instanceof Outage,
    log,
  });
  await until(() => handled.has(4));
  await consumption.stop();
  expect([...handled]).toEqual([1, 3, 4]);
  expect(await parkedOf('failing', 1)).toEqual([{ value: '{"n":2}', reason: 'Error: two is never right' }]);
});

test('what was handled is not handled again by the next member', async () => {
  await ensureTopics(kafka, ['once'], { partitions: 1, replication: 1 });
  await send('once', ['{"n":1}']);
  const runs: number[][] = [[], []];
  for (const run of runs) {
    const consumption = consume({
      kafka,
      groupId: 'once',
      topics: [{ name: 'once', message: Numbered }],
      handle: async (messages) => void run.push(...messages.map(({ n }) => n)),
      isTransientError: () => false,
      log,
    });
    await until(() => run.length > 0);
    await consumption.stop();
    await send('once', ['{"n":2}']);
  }
  expect(runs).toEqual([[1], [2]]);
});

test('what was handled is committed though nothing follows it, and so is the end of its transaction', async () => {
  await ensureTopics(kafka, ['quiet'], { partitions: 1, replication: 1 });
  let handled = 0;
  const consumption = consume({
    kafka,
    groupId: 'quiet',
    topics: [{ name: 'quiet', message: Numbered }],
    handle: async (messages) => void (handled += messages.length),
    isTransientError: () => false,
    log,
  });
  const producer = kafka.producer({
    transactionalId: 'quiet',
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  const admin = kafka.admin();
  await Promise.all([producer.connect(), admin.connect()]);
  const committed = async () =>
    (await admin.fetchOffsets({ groupId: 'quiet', topics: ['quiet'] }))[0]!.partitions[0]!.offset;

  const transaction = await producer.transaction();
  await transaction.send({ topic: 'quiet', messages: [{ value: '{"n":1}' }] });
  await until(() => handled === 1);
  while ((await committed()) !== '1') await sleep(20);
  await transaction.commit();
  while ((await committed()) !== '2') await sleep(20);

  await Promise.all([producer.disconnect(), admin.disconnect(), consumption.stop()]);
});

test('what the client takes for final is not: it joins once a member of another kind has left the group', async () => {
  await ensureTopics(kafka, ['contested'], { partitions: 1, replication: 1 });
  await send('contested', ['{"n":1}']);
  const other = kafka.consumer({ groupId: 'contested', partitionAssigners: [foreignAssigner] });
  await other.connect();
  await other.subscribe({ topic: 'contested', fromBeginning: true });
  await other.run({ autoCommit: false, eachMessage: async () => {} });
  const refused: unknown[] = [];
  const handled: number[] = [];
  const consumption = consume({
    kafka,
    groupId: 'contested',
    topics: [{ name: 'contested', message: Numbered }],
    handle: async (messages) => void handled.push(...messages.map(({ n }) => n)),
    isTransientError: () => false,
    log: Object.assign(Object.create(log) as typeof log, { error: (fault: unknown) => void refused.push(fault) }),
  });
  await until(() => refused.length > 0);
  await expect(consumption.ready()).rejects.toThrow();
  await other.disconnect();
  await until(() => handled.length === 1);
  await consumption.stop();
});

test('while handling waits, no more is fetched than what one answer of the broker holds', async () => {
  await ensureTopics(kafka, ['crowded'], { partitions: 1, replication: 1 });
  const numbers = (from: number) => Array.from({ length: 500 }, (_, n) => JSON.stringify({ n: from + n }));
  await send('crowded', numbers(0));
  const handed: number[] = [];
  let goOn = () => {};
  const waiting = new Promise<void>((done) => (goOn = done));
  const seen = { fetches: 0, heartbeats: 0 };
  const watched = Object.create(kafka, {
    consumer: {
      value: (options: ConsumerConfig) => {
        const consumer = kafka.consumer(options);
        consumer.on('consumer.fetch', () => void (seen.fetches += 1));
        consumer.on('consumer.heartbeat', () => void (seen.heartbeats += 1));
        return consumer;
      },
    },
  }) as Kafka;
  const consumption = consume({
    kafka: watched,
    groupId: 'patient',
    topics: [{ name: 'crowded', message: Numbered }],
    handle: async (messages) => {
      handed.push(...messages.map(({ n }) => n));
      await waiting;
    },
    isTransientError: () => false,
    log,
  });
  await until(() => handed.length > 0);
  const [handedFirst, fetches] = [handed.length, seen.fetches];
  for (const from of [500, 1_000]) {
    const { heartbeats } = seen;
    await send('crowded', numbers(from));
    await until(() => seen.heartbeats > heartbeats);
  }
  expect(handedFirst).toBeLessThan(500);
  expect([handed.length, seen.fetches]).toEqual([handedFirst, fetches]);

  goOn();
  await until(() => handed.length === 1_500);
  await consumption.stop();
  expect(handed).toEqual(Array.from({ length: 1_500 }, (_, n) => n));
});
