import { TOPICS } from '@cpg/contracts';
import { createLogger } from '@cpg/runtime';
import { createKafka } from './connect.ts';
import { createPublisher, isShutOut, type Publisher } from './publish.ts';
import { startBroker } from './testing/jest-broker.ts';
import { ensureTopics } from './topics.ts';

type Message = Parameters<Publisher['publish']>[1][number];

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

test('whoever opens last publishes; the one before is shut out, and stays so until it opens again', async () => {
  const [first, second] = [publisher(), publisher()];
  await first.open();
  await first.publish(topic, [numbered(1)]);
  await second.open();
  for (const n of [2, 3]) {
    const refused = await first.publish(topic, [numbered(n)]).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    if (n === 2) expect(isShutOut(refused)).toBe(true);
  }
  await second.publish(topic, [numbered(4)]);

  await first.open();
  expect(isShutOut(await second.publish(topic, [numbered(5)]).catch((error: unknown) => error))).toBe(true);
  await first.publish(topic, [numbered(6)]);

  const seen: string[] = [];
  const reader = kafka.consumer({ groupId: 'reader', maxWaitTimeInMs: 100 });
  await reader.connect();
  await reader.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((done) => {
    void reader.run({
      eachMessage: async ({ message }) => {
        seen.push((JSON.parse(message.value!.toString()) as { id: string }).id);
        if (seen.at(-1) === 'evt_6') done();
      },
    });
  });
  await reader.disconnect();
  expect(seen).toEqual(['evt_1', 'evt_4', 'evt_6']);
});

test('another failure is not taken for it', () => {
  expect(isShutOut(new Error('connection lost', { cause: { type: 'NOT_LEADER_FOR_PARTITION' } }))).toBe(false);
  expect(isShutOut(undefined)).toBe(false);
});
