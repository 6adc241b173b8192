import { AssignerProtocol, type ConsumerConfig, type Kafka, type PartitionAssigner, PartitionAssigners } from 'kafkajs';
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

/** The partition assigner of another client library. */
const foreignAssigner: PartitionAssigner = (config) => ({
  ...PartitionAssigners.roundRobin(config),
  name: 'foreign',
  protocol: ({ topics }) => ({
    name: 'foreign',
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }),
  }),
});

test('keeps trying to join a group whose members use another protocol', async () => {
  await ensureTopics(kafka, ['contested'], { partitions: 1, replication: 1 });
  await send('contested', ['{"n":1}']);
  const other = kafka.consumer({ groupId: 'contested', partitionAssigners: [foreignAssigner] });
  await other.connect();
  await other.subscribe({ topic: 'contested', fromBeginning: true });
  // run() also returns when the first attempt to join failed, as while the coordinator loads.
  const otherJoined = new Promise((resolve) => other.on('consumer.group_join', resolve));
  await other.run({ autoCommit: false, eachMessage: async () => {} });
  await otherJoined;
  const loggedErrors: unknown[] = [];
  const handled: number[] = [];
  const running = consume({
    kafka,
    groupId: 'contested',
    topics: [{ name: 'contested', message: Numbered }],
    handle: async (messages) => void handled.push(...messages.map(({ n }) => n)),
    isTransientError: () => false,
    log: Object.assign(Object.create(log) as typeof log, { error: (error: unknown) => void loggedErrors.push(error) }),
  });
  await until(() => loggedErrors.length > 0);
  await expect(running.ready()).rejects.toThrow();
  await other.disconnect();
  await until(() => handled.length === 1);
  await running.stop();
});

test('applies backpressure: fetches nothing more while the handler waits', async () => {
  await ensureTopics(kafka, ['backlog'], { partitions: 1, replication: 1 });
  const numbers = (from: number) => Array.from({ length: 500 }, (_, n) => JSON.stringify({ n: from + n }));
  await send('backlog', numbers(0));
  const handled: number[] = [];
  let finishHandler = () => {};
  const handlerFinished = new Promise<void>((resolve) => (finishHandler = resolve));
  const events = { fetches: 0, heartbeats: 0 };
  const observedKafka = Object.create(kafka, {
    consumer: {
      value: (options: ConsumerConfig) => {
        const consumer = kafka.consumer(options);
        consumer.on('consumer.fetch', () => void (events.fetches += 1));
        consumer.on('consumer.heartbeat', () => void (events.heartbeats += 1));
        return consumer;
      },
    },
  }) as Kafka;
  const running = consume({
    kafka: observedKafka,
    groupId: 'slow',
    topics: [{ name: 'backlog', message: Numbered }],
    handle: async (messages) => {
      handled.push(...messages.map(({ n }) => n));
      await handlerFinished;
    },
    isTransientError: () => false,
    log,
  });
  await until(() => handled.length > 0);
  const [handledFirst, fetches] = [handled.length, events.fetches];
  for (const from of [500, 1_000]) {
    const { heartbeats } = events;
    await send('backlog', numbers(from));
    await until(() => events.heartbeats > heartbeats);
  }
  expect(handledFirst).toBeLessThan(500);
  expect([handled.length, events.fetches]).toEqual([handledFirst, fetches]);

  finishHandler();
  await until(() => handled.length === 1_500);
  await running.stop();
  expect(handled).toEqual(Array.from({ length: 1_500 }, (_, n) => n));
});
