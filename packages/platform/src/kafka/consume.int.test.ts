import { setTimeout as sleep } from 'node:timers/promises';
import { deadLetterTopicOf } from '@cpg/contracts';
import { type Kafka, Partitioners } from 'kafkajs';
import { consume } from './consume.ts';
import { log, Numbered, startNumbered, until } from './testing/jest-numbered.ts';
import { ensureTopics } from './topics.ts';

let kafka: Kafka;
let send: Awaited<ReturnType<typeof startNumbered>>['send'];
let stop: () => Promise<unknown>;
beforeAll(async () => {
  ({ kafka, send, stop } = await startNumbered());
});
afterAll(() => stop());

/** Values and reasons of a topic's dead letters. */
const deadLettersOf = async (topic: string, count: number) => {
  const letters: { value: string | undefined; reason: string }[] = [];
  const consumer = kafka.consumer({ groupId: `dead-letters-of-${topic}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic: deadLetterTopicOf(topic), fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) =>
      void letters.push({ value: message.value?.toString(), reason: String(message.headers?.reason) }),
  });
  await until(() => letters.length >= count);
  await consumer.disconnect();
  return letters;
};

test('sends invalid messages to the dead-letter topic with the reason, and handles the others', async () => {
  await ensureTopics(kafka, ['unreadable'], { partitions: 1, replication: 1 });
  await send('unreadable', ['{"n":1}', 'not json', null, '{"n":"two"}', '{"n":3}']);
  const handled: number[] = [];
  const running = consume({
    kafka,
    groupId: 'reader',
    topics: [{ name: 'unreadable', message: Numbered }],
    handle: async (messages) => void handled.push(...messages.map(({ n }) => n)),
    isTransientError: () => false,
    log,
  });
  await until(() => handled.length === 2);
  await running.stop();
  expect(handled).toEqual([1, 3]);
  const letters = await deadLettersOf('unreadable', 3);
  expect(letters.map(({ value }) => value)).toEqual(['not json', undefined, '{"n":"two"}']);
  expect(letters[0]!.reason).toMatch(/not JSON/);
});

test('dead-letters only the message that keeps failing, and retries transient errors without limit', async () => {
  await ensureTopics(kafka, ['failing'], { partitions: 1, replication: 1 });
  await send(
    'failing',
    [1, 2, 3, 4].map((n) => JSON.stringify({ n })),
  );
  const handled = new Set<number>();
  let transientFailures = 8;
  class TransientError extends Error {}
  const running = consume({
    kafka,
    groupId: 'failer',
    topics: [{ name: 'failing', message: Numbered }],
    handle: async (messages) => {
      for (const { n } of messages) {
        if (n === 2) throw new Error('two always fails');
        if (n === 3 && (transientFailures -= 1) > 0) throw new TransientError('transient');
        handled.add(n);
      }
    },
    isTransientError: (error) => error instanceof TransientError,
    log,
  });
  await until(() => handled.has(4));
  await running.stop();
  expect([...handled]).toEqual([1, 3, 4]);
  expect(await deadLettersOf('failing', 1)).toEqual([{ value: '{"n":2}', reason: 'Error: two always fails' }]);
});

test('does not handle committed messages again after a restart', async () => {
  await ensureTopics(kafka, ['once'], { partitions: 1, replication: 1 });
  await send('once', ['{"n":1}']);
  const runs: number[][] = [[], []];
  for (const run of runs) {
    const running = consume({
      kafka,
      groupId: 'once',
      topics: [{ name: 'once', message: Numbered }],
      handle: async (messages) => void run.push(...messages.map(({ n }) => n)),
      isTransientError: () => false,
      log,
    });
    await until(() => run.length > 0);
    await running.stop();
    await send('once', ['{"n":2}']);
  }
  expect(runs).toEqual([[1], [2]]);
});

test('commits the offset of the last message and of its transaction marker', async () => {
  await ensureTopics(kafka, ['quiet'], { partitions: 1, replication: 1 });
  let handled = 0;
  const running = consume({
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

  await Promise.all([producer.disconnect(), admin.disconnect(), running.stop()]);
});
