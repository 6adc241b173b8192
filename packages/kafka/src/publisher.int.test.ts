import { newId } from '@cpg/runtime';
import { TOPICS } from '@cpg/contracts';
import { createLogger } from '@cpg/runtime';
import { createKafka } from './create-kafka.ts';
import { createPublisher, isFenced, type Publisher } from './publisher.ts';
import { startBroker } from './testing/jest-broker.ts';
import { ensureTopics } from './topics.ts';

type Message = Parameters<Publisher['send']>[1][number];

const log = createLogger({ name: 'test', level: 'silent' });
const topic = TOPICS.orders.name;
const closing: (() => unknown)[] = [];
let kafka: ReturnType<typeof createKafka>;

beforeAll(async () => {
  const server = await startBroker();
  kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'test', log });
  await ensureTopics(kafka, [topic], { partitions: 2, replication: 1 });
  closing.push(server.stop);
});

afterAll(async () => {
  for (const close of closing) await close();
});

const publisher = () => {
  const made = createPublisher(kafka, { transactionalId: 'relay' });
  closing.unshift(made.close);
  return made;
};
const numbered = (n: number) =>
  ({ id: `evt_${n}`, orderid: 'ord_1', time: '2026-01-31T12:00:00.000Z' }) as unknown as Message;

/** One message in a transaction of its own. */
const publish = async (by: Publisher, n: number) => {
  await by.send(topic, [numbered(n)]);
  await by.commit();
};

/** Ids in the topic, once the one with this number is among them. */
const readUntil = async (last: number, readUncommitted: boolean) => {
  const seen: string[] = [];
  const reader = kafka.consumer({ groupId: `reader-${Math.random()}`, maxWaitTimeInMs: 100, readUncommitted });
  await reader.connect();
  await reader.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((done) => {
    void reader.run({
      eachMessage: async ({ message }) => {
        seen.push((JSON.parse(message.value!.toString()) as { id: string }).id);
        if (seen.at(-1) === `evt_${last}`) done();
      },
    });
  });
  await reader.disconnect();
  return seen;
};

test('whoever opens last publishes; the one before is shut out, and stays so until it opens again', async () => {
  const [first, second] = [publisher(), publisher()];
  await first.open();
  await publish(first, 1);
  await second.open();
  for (const n of [2, 3]) {
    const refused = await publish(first, n).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    if (n === 2) expect(isFenced(refused)).toBe(true);
  }
  await publish(second, 4);

  await first.open();
  expect(isFenced(await publish(second, 5).catch((error: unknown) => error))).toBe(true);
  await publish(first, 6);
  expect(await readUntil(6, false)).toEqual(['evt_1', 'evt_4', 'evt_6']);
});

test('what is sent is seen before it is committed; what a publisher left uncommitted when another opened never counts', async () => {
  const [first, second] = [publisher(), publisher()];
  await first.open();
  await first.send(topic, [numbered(11)]);
  await first.send(topic, [numbered(12)]);
  expect((await readUntil(12, true)).slice(-2)).toEqual(['evt_11', 'evt_12']);
  await second.open();
  expect(isFenced(await first.commit().catch((error: unknown) => error))).toBe(true);
  await second.send(topic, [numbered(12)]);
  await second.send(topic, [numbered(13)]);
  await second.commit();
  expect((await readUntil(13, false)).slice(-2)).toEqual(['evt_12', 'evt_13']);
  expect((await readUntil(13, true)).slice(-4)).toEqual(['evt_11', 'evt_12', 'evt_12', 'evt_13']);
});

test('what comes at once may be more than the broker takes in one batch', async () => {
  const by = publisher();
  await by.open();
  const large = [21, 22, 23, 24].map((n) => ({ ...numbered(n), data: 'x'.repeat(400 * 1_024) }) as unknown as Message);
  await by.send(topic, [numbered(20), ...large, numbered(25)]);
  await by.commit();
  expect((await readUntil(25, false)).slice(-6)).toEqual([20, 21, 22, 23, 24, 25].map((n) => `evt_${n}`));
});

test('a message may be larger than a batch, and is read as any other', async () => {
  const by = publisher();
  await by.open();
  const payments = Array.from({ length: 8_000 }, () => ({ id: newId('payment'), status: 'applied', currency: 'USDC' }));
  const large = { ...numbered(31), data: { payments, note: 'x'.repeat(1_024 * 1_024) } } as unknown as Message;
  await by.send(topic, [numbered(30), large, numbered(32)]);
  await by.commit();
  expect((await readUntil(32, false)).slice(-3)).toEqual([30, 31, 32].map((n) => `evt_${n}`));
});

test('another failure is not taken for it', () => {
  expect(isFenced(new Error('connection lost', { cause: { type: 'NOT_LEADER_FOR_PARTITION' } }))).toBe(false);
  expect(isFenced(undefined)).toBe(false);
});
