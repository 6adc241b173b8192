import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/runtime';
import type { Kafka } from 'kafkajs';
import { z } from 'zod';
import { createKafka } from './create-kafka.ts';
import { consume } from './consume.ts';
import { type DeadLetter, createDeadLetters, type OffsetRange } from './dead-letters.ts';
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

const until = async (look: () => boolean) => {
  while (!look()) await sleep(20);
};

test('what one group could not process is redriven for it alone, in order, with key and headers; twice is once', async () => {
  let broken = true;
  const handled: Record<'careful' | 'careless', number[]> = { careful: [], careless: [] };
  const reading = (['careful', 'careless'] as const).map((groupId) =>
    consume({
      kafka,
      groupId,
      topics: [{ name: TOPIC, message: Numbered }],
      handle: async (messages) => {
        for (const { n } of messages) {
          if (groupId === 'careful' && broken && n % 2 === 0) throw new Error('no even numbers');
          if (!handled[groupId].includes(n)) handled[groupId].push(n);
        }
      },
      isTransientError: () => false,
      log,
    }),
  );
  const heard: { n: number; key: string; headers: Record<string, string> }[] = [];
  const listener = kafka.consumer({ groupId: 'listener', maxWaitTimeInMs: 100 });
  await listener.connect();
  await listener.subscribe({ topics: [TOPIC], fromBeginning: true });
  await listener.run({
    eachMessage: async ({ message: { key, value, headers = {} } }) => {
      const { n } = Numbered.parse(JSON.parse(value!.toString()));
      const texts = Object.entries(headers).map(([name, text]) => [name, text?.toString()]);
      heard.push({ n, key: key!.toString(), headers: Object.fromEntries(texts) });
    },
  });
  closing.unshift(...reading.map((each) => each.stop), () => listener.disconnect());

  const letters = createDeadLetters(kafka, TOPIC);
  const waitingLetters = async (range?: OffsetRange) => {
    const read: DeadLetter[] = [];
    let looking = false;
    const look = async (letter: DeadLetter) => {
      expect(looking).toBe(false);
      looking = true;
      await sleep(5);
      read.push(letter);
      looking = false;
    };
    expect(await letters.read(look, range)).toBe(read.length);
    return read;
  };
  expect([await letters.count(), await waitingLetters()]).toEqual([0, []]);
  const producer = kafka.producer();
  await producer.connect();
  for (const n of [1, 2, 3, 4, 5, 6, 8])
    await producer.send({
      topic: TOPIC,
      messages: [{ key: 'k', value: JSON.stringify({ n }), headers: { trace: `t${n}` } }],
    });
  await producer.disconnect();
  await until(() => handled.careless.length === 7 && handled.careful.length === 3);
  while ((await letters.count()) < 4) await sleep(20);
  const waiting = await waitingLetters();
  expect(waiting.map(({ offset, group, key, value, reason }) => ({ offset, group, key, value, reason }))).toEqual(
    [2, 4, 6, 8].map((n, index) => ({
      offset: String(index),
      group: 'careful',
      key: 'k',
      value: JSON.stringify({ n }),
      reason: 'Error: no even numbers',
    })),
  );

  expect(await waitingLetters({ from: 2n, through: 2n })).toEqual([waiting[2]]);
  expect(await waitingLetters({ from: 4n, through: 4n })).toEqual([]);
  broken = false;
  expect(await letters.discard(0n)).toBe(1);
  expect(await letters.redrive(2n)).toBe(2);
  await until(() => handled.careful.length === 5);
  expect((await waitingLetters()).map(({ offset }) => offset)).toEqual(['3']);
  expect(await waitingLetters({ from: 1n, through: 1n })).toEqual([]);
  expect(await letters.redrive()).toBe(1);
  expect(await letters.redrive()).toBe(0);
  await until(() => handled.careful.length === 6 && heard.length === 10);
  expect(handled.careful).toEqual([1, 3, 5, 4, 6, 8]);
  expect(heard.slice(7)).toEqual(
    [4, 6, 8].map((n) => ({ n, key: 'k', headers: { trace: `t${n}`, 'redriven-for': 'careful' } })),
  );
});
