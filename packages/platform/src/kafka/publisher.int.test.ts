import { randomBytes } from 'node:crypto';
import { TOPICS } from '@cpg/contracts';
import { createLogger } from '../log/logger.ts';
import { newId } from '../ids.ts';
import type { Kafka, KafkaMessage, ProducerConfig, RequestEvent } from 'kafkajs';
import { createKafka } from './client.ts';
import { createPublisher, isFenced, isRefused, type OutgoingMessage as Message, type Publisher } from './publisher.ts';
import { startBroker } from './testing/jest-broker.ts';
import { ensureTopics } from './topics.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const topic = TOPICS.orders.name;
const closing: (() => unknown)[] = [];
let brokers: string[];
let kafka: ReturnType<typeof createKafka>;

beforeAll(async () => {
  const server = await startBroker();
  brokers = [server.brokers];
  kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'test', log });
  await ensureTopics(kafka, [topic], { partitions: 2, replication: 1 });
  closing.push(server.stop);
});

afterAll(async () => {
  for (const close of closing) await close();
});

const startPublisher = () => {
  const publisher = createPublisher(kafka, { transactionalId: 'relay' });
  closing.unshift(publisher.close);
  return publisher;
};
const numbered = (n: number, time = new Date(), more: object = {}): Message => {
  const attributes = { id: `evt_${n}`, orderid: 'ord_1', time: time.toISOString() };
  return { ...attributes, ...more };
};

/** Publishes one message in its own transaction. */
const publish = async (publisher: Publisher, n: number) => {
  await publisher.send(topic, [numbered(n)]);
  await publisher.commit();
};

/** Opens a publisher that reports its requests. */
const startObserved = async (onRequest: (request: RequestEvent['payload']) => void) => {
  const observed = {
    producer: (config: ProducerConfig) => {
      const producer = kafka.producer(config);
      producer.on('producer.network.request', ({ payload }) => onRequest(payload));
      return producer;
    },
  };
  const publisher = createPublisher(observed as Kafka, { transactionalId: newId('event') });
  closing.unshift(publisher.close);
  await publisher.open();
  return publisher;
};

/** Reads the topic up to the message with the given number, and returns all message ids. */
const readUntil = async (last: number, readUncommitted: boolean) => {
  const messages = await readMessagesUntil(last, readUncommitted);
  return messages.map(idOf);
};

const idOf = ({ value }: KafkaMessage): string => (JSON.parse(value!.toString()) as { id: string }).id;

const readMessagesUntil = async (last: number, readUncommitted: boolean) => {
  const seen: KafkaMessage[] = [];
  const reader = kafka.consumer({ groupId: `reader-${Math.random()}`, maxWaitTimeInMs: 100, readUncommitted });
  await reader.connect();
  await reader.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((done) => {
    void reader.run({
      eachMessage: async ({ message }) => {
        seen.push(message);
        if (idOf(message) === `evt_${last}`) done();
      },
    });
  });
  await reader.disconnect();
  return seen;
};

test('tells a message that Kafka refuses, and sends others after it opened again', async () => {
  const topicOfSmall = 'small.v1';
  const admin = kafka.admin();
  await admin.connect();
  const configEntries = [{ name: 'max.message.bytes', value: '2000' }];
  await admin.createTopics({
    topics: [{ topic: topicOfSmall, numPartitions: 1, replicationFactor: 1, configEntries }],
  });
  await admin.disconnect();
  const publisher = startPublisher();
  await publisher.open();
  const large = numbered(1, new Date(), { text: randomBytes(4_000).toString('base64') });
  const refused = await publisher.send(topicOfSmall, [large]).catch((error: unknown) => error);
  expect([isRefused(refused), isFenced(refused), isRefused(new Error('other'))]).toEqual([true, false, false]);
  await publisher.open();
  await publisher.send(topicOfSmall, [numbered(2)]);
  await publisher.commit();
});

test('fences the earlier publisher until it opens again', async () => {
  const [first, second] = [startPublisher(), startPublisher()];
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

test('shows uncommitted messages to read_uncommitted consumers only, and aborts them when another publisher opens', async () => {
  const [first, second] = [startPublisher(), startPublisher()];
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

test('sends the messages of one command as one compressed batch', async () => {
  let sent = 0;
  const publisher = await startObserved(({ apiName, size }) => {
    if (apiName === 'Produce') sent += size;
  });
  // As events show an order: each message has all of it, and ids do not compress.
  const items = Array.from({ length: 10 }, () => ({ id: newId('order'), name: 'Coffee', unit_price: '10.00' }));
  const command = [71, 72, 73].map((n) => numbered(n, new Date(), { data: { order: { items } } }));
  await publisher.send(topic, command);
  await publisher.commit();
  const text = command.reduce((bytes, message) => bytes + JSON.stringify(message).length, 0);
  expect(sent).toBeLessThan(text / 2);
  const received = (await readMessagesUntil(73, false)).slice(-3) as (KafkaMessage & { batchContext: object })[];
  expect(received.map(idOf)).toEqual(['evt_71', 'evt_72', 'evt_73']);
  for (const { batchContext } of received)
    expect(batchContext).toMatchObject({ firstOffset: received[0]!.offset, lastOffsetDelta: 2, inTransaction: true });
});

test('sends more messages at once than fit into one batch', async () => {
  const publisher = startPublisher();
  await publisher.open();
  const large = [21, 22, 23, 24].map((n) =>
    numbered(n, new Date(), { data: randomBytes(300 * 1_024).toString('base64') }),
  );
  await publisher.send(topic, [numbered(20), ...large, numbered(25)]);
  await publisher.commit();
  expect((await readUntil(25, false)).slice(-6)).toEqual([20, 21, 22, 23, 24, 25].map((n) => `evt_${n}`));
});

test('sends a message larger than a batch', async () => {
  const publisher = startPublisher();
  await publisher.open();
  const payments = Array.from({ length: 8_000 }, () => ({ id: newId('payment'), status: 'applied', currency: 'USDC' }));
  const large = numbered(31, new Date(), { data: { payments, note: 'x'.repeat(1_024 * 1_024) } });
  await publisher.send(topic, [numbered(30), large, numbered(32)]);
  await publisher.commit();
  expect((await readUntil(32, false)).slice(-3)).toEqual([30, 31, 32].map((n) => `evt_${n}`));
});

test('publishes an event that a service with a wrong clock recorded in the future', async () => {
  const publisher = startPublisher();
  await publisher.open();
  await publisher.send(topic, [numbered(41, new Date(Date.now() + 48 * 3_600_000))]);
  await publisher.commit();
  expect((await readUntil(41, false)).at(-1)).toBe('evt_41');
});

test('begins a transaction right after the previous one, without a warning', async () => {
  // Apache Kafka refuses it until it has written the markers of the previous one: CONCURRENT_TRANSACTIONS.
  const warnings: unknown[] = [];
  const watched = Object.assign(Object.create(log) as typeof log, { warn: (line: unknown) => warnings.push(line) });
  const client = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'test', log: watched });
  const publisher = createPublisher(client, { transactionalId: newId('event') });
  closing.unshift(publisher.close);
  await publisher.open();
  warnings.length = 0;
  for (let n = 50; n < 70; n += 1) await publish(publisher, n);
  expect(warnings).toEqual([]);
});

test('does not treat other errors as fencing', () => {
  expect(isFenced(new Error('connection lost', { cause: { type: 'NOT_LEADER_FOR_PARTITION' } }))).toBe(false);
  expect(isFenced(undefined)).toBe(false);
});
