import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../log/logger.ts';
import { createServiceMetrics } from '../metrics.ts';
import { CompressionTypes, type Kafka } from 'kafkajs';
import { z } from 'zod';
import { consume } from './consume.ts';
import { createKafka } from './client.ts';
import { createDeadLetters, type DeadLetter, type DeadLetters, type OffsetRange } from './dead-letters.ts';
import { startBroker } from './testing/jest-broker.ts';
import { ensureTopics } from './topics.ts';

const Numbered = z.object({ n: z.number() });
const TOPIC = 'numbers';
const log = createLogger({ name: 'test', level: 'silent' });
const closing: (() => unknown)[] = [];
let kafka: Kafka;

beforeAll(async () => {
  const server = await startBroker();
  kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'test', log });
  await ensureTopics(kafka, [TOPIC], { partitions: 3, replication: 1 });
  closing.push(server.stop);
});

afterAll(async () => {
  for (const close of closing) await close();
});

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(20);
};

/** Starts a consumer group that handles each number once, unless `mustFail` is true for it. */
const startGroup = (groupId: string, mustFail: (n: number) => boolean) => {
  const handled: number[] = [];
  const consumer = consume({
    kafka,
    groupId,
    topics: [{ name: TOPIC, message: Numbered }],
    handle: async (messages) => {
      for (const { n } of messages) {
        if (mustFail(n)) throw new Error('no even numbers');
        if (!handled.includes(n)) handled.push(n);
      }
    },
    isTransientError: () => false,
    log,
  });
  closing.unshift(consumer.stop);
  return handled;
};

/** Records every message of the topic with its key and headers. */
const recordMessages = async () => {
  const recorded: { n: number; key: string; headers: Record<string, string> }[] = [];
  const listener = kafka.consumer({ groupId: 'listener', maxWaitTimeInMs: 100 });
  await listener.connect();
  await listener.subscribe({ topics: [TOPIC], fromBeginning: true });
  await listener.run({
    eachMessage: async ({ message: { key, value, headers = {} } }) => {
      const { n } = Numbered.parse(JSON.parse(value!.toString()));
      const texts = Object.entries(headers).map(([name, text]) => [name, text?.toString()]);
      recorded.push({ n, key: key!.toString(), headers: Object.fromEntries(texts) });
    },
  });
  closing.unshift(() => listener.disconnect());
  return recorded;
};

const sendNumbers = async (numbers: number[]) => {
  const producer = kafka.producer();
  await producer.connect();
  for (const n of numbers)
    await producer.send({
      topic: TOPIC,
      messages: [{ key: 'k', value: JSON.stringify({ n }), headers: { trace: `t${n}` } }],
    });
  await producer.disconnect();
};

/** Reads pending letters, and checks that they are passed on one at a time. */
const readLetters = async (letters: DeadLetters, range?: OffsetRange) => {
  const read: DeadLetter[] = [];
  let reading = false;
  const onLetter = async (letter: DeadLetter) => {
    expect(reading).toBe(false);
    reading = true;
    await sleep(5);
    read.push(letter);
    reading = false;
  };
  expect(await letters.read(onLetter, range)).toBe(read.length);
  return read;
};

test('redrives dead letters once, in order, with key and headers, only for the group that failed', async () => {
  let evenFails = true;
  const handledByFailing = startGroup('failing', (n) => evenFails && n % 2 === 0);
  const handledByOther = startGroup('other', () => false);
  const recorded = await recordMessages();
  const letters = createDeadLetters(kafka, TOPIC);
  expect([await letters.count(), await readLetters(letters)]).toEqual([0, []]);

  await sendNumbers([1, 2, 3, 4, 5, 6, 8]);
  await until(() => handledByOther.length === 7 && handledByFailing.length === 3);
  while ((await letters.count()) < 4) await sleep(20);
  const pending = await readLetters(letters);
  expect(pending.map(({ offset, group, key, value, reason }) => ({ offset, group, key, value, reason }))).toEqual(
    [2, 4, 6, 8].map((n, index) => ({
      offset: String(index),
      group: 'failing',
      key: 'k',
      value: JSON.stringify({ n }),
      reason: 'Error: no even numbers',
    })),
  );
  expect(await readLetters(letters, { from: 2n, through: 2n })).toEqual([pending[2]]);
  expect(await readLetters(letters, { from: 4n, through: 4n })).toEqual([]);

  evenFails = false;
  expect(await letters.discard(0n)).toBe(1);
  expect(await letters.redrive(2n)).toBe(2);
  await until(() => handledByFailing.length === 5);
  expect((await readLetters(letters)).map(({ offset }) => offset)).toEqual(['3']);
  expect(await readLetters(letters, { from: 1n, through: 1n })).toEqual([]);
  expect(await letters.redrive()).toBe(1);
  expect(await letters.redrive()).toBe(0);
  await until(() => handledByFailing.length === 6 && recorded.length === 10);
  expect(handledByFailing).toEqual([1, 3, 5, 4, 6, 8]);
  expect(recorded.slice(7)).toEqual(
    [4, 6, 8].map((n) => ({ n, key: 'k', headers: { trace: `t${n}`, 'redriven-for': 'failing' } })),
  );
});

test('a compressed message that is larger than the limit becomes a dead letter, and is redriven', async () => {
  const topic = 'large-numbers';
  await ensureTopics(kafka, [topic], { partitions: 1, replication: 1 });
  let fails = true;
  const handled: number[] = [];
  const metrics = createServiceMetrics({ totals: () => ({}) });
  const consumer = consume({
    metrics,
    kafka,
    groupId: 'large',
    topics: [{ name: topic, message: Numbered }],
    handle: async (messages) => {
      if (fails && messages.some(({ n }) => n === 1)) throw new Error('not 1');
      handled.push(...messages.map(({ n }) => n));
    },
    isTransientError: () => false,
    log,
  });
  closing.unshift(consumer.stop);
  const producer = kafka.producer();
  await producer.connect();
  const large = { key: 'k', value: JSON.stringify({ n: 1, text: 'x'.repeat(1_200_000) }) };
  const compression = CompressionTypes.GZIP;
  await producer.send({ topic, compression, messages: [large] });
  await producer.send({ topic, messages: [{ key: 'k', value: JSON.stringify({ n: 2 }) }] });
  await producer.disconnect();
  await until(() => handled.length > 0);
  expect(handled).toEqual([2]);
  expect(await metrics.metrics()).toContain('dead_letters_total{topic="large-numbers"} 1');
  fails = false;
  expect(await createDeadLetters(kafka, topic).redrive()).toBe(1);
  await until(() => handled.length > 1);
  expect(handled).toEqual([2, 1]);
});
