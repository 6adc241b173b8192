import { setTimeout as sleep } from 'node:timers/promises';
import { startKafka } from '@cpg/embedded-kafka';
import { testDatabase } from '@cpg/postgres';
import { createLogger } from '@cpg/runtime';
import { Partitioners } from 'kafkajs';
import { z } from 'zod';
import { createKafka } from './create-kafka.ts';
import { consume } from './consume.ts';
import { ensureTopics } from './topics.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const Numbered = z.object({ n: z.int() });

test('it is ready while its group hears of it, not while Kafka is away, and works when Kafka is back', async () => {
  const database = await testDatabase();
  const first = await startKafka({ databaseUrl: database.url, port: 0 });
  const kafka = createKafka({ KAFKA_BROKERS: [first.brokers] }, { clientId: 'test', log });
  await ensureTopics(kafka, ['away'], { partitions: 1, replication: 1 });
  const handled: number[] = [];
  const consumption = consume({
    kafka,
    groupId: 'away',
    topics: [{ name: 'away', message: Numbered }],
    handle: async (messages) => void handled.push(...messages.map(({ n }) => n)),
    isTransientError: () => false,
    log,
  });
  const isReady = () =>
    consumption.ready().then(
      () => true,
      () => false,
    );
  const becomes = async (ready: boolean) => {
    while ((await isReady()) !== ready) await sleep(20);
  };
  expect(await isReady()).toBe(false);
  await becomes(true);
  await first.stop();
  await becomes(false);
  const second = await startKafka({ databaseUrl: database.url, port: Number(first.brokers.split(':')[1]) });
  await becomes(true);
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic: 'away', messages: [{ value: '{"n":1}' }] });
  await producer.disconnect();
  while (handled.length === 0) await sleep(20);
  await consumption.stop();
  await second.stop();
  await database.drop();
});

test('it stops in time, though Kafka is away', async () => {
  const database = await testDatabase();
  const server = await startKafka({ databaseUrl: database.url, port: 0 });
  const kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'test', log });
  await ensureTopics(kafka, ['away'], { partitions: 1, replication: 1 });
  let handled = 0;
  const consumption = consume({
    kafka,
    groupId: 'away',
    topics: [{ name: 'away', message: Numbered }],
    handle: async (messages) => void (handled += messages.length),
    isTransientError: () => false,
    log,
  });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic: 'away', messages: [{ value: '{"n":1}' }] });
  while (handled === 0) await sleep(5);
  await producer.disconnect();
  await server.stop();
  // It is joining its group again.
  await sleep(500);
  const began = performance.now();
  await consumption.stop();
  expect(performance.now() - began).toBeLessThan(7_000);
  await database.drop();
});
