import { setTimeout as sleep } from 'node:timers/promises';
import { startKafka } from '@cpg/embedded-kafka';
import { freePort } from '@cpg/ports';
import { testDatabase } from '@cpg/postgres';
import { consume } from './consume.ts';
import { clientOf, log, Numbered, sendTo } from './testing/jest-numbered.ts';
import { ensureTopics } from './topics.ts';

test('is not ready while Kafka is unavailable, and consumes again afterwards', async () => {
  const database = await testDatabase();
  const first = await startKafka({ databaseUrl: database.url, port: await freePort() });
  const kafka = clientOf(first.brokers);
  await ensureTopics(kafka, ['outage'], { partitions: 1, replication: 1 });
  const handled: number[] = [];
  const consumer = consume({
    kafka,
    groupId: 'outage',
    topics: [{ name: 'outage', message: Numbered }],
    handle: async (messages) => void handled.push(...messages.map(({ n }) => n)),
    isTransientError: () => false,
    log,
  });
  const isReady = () =>
    consumer.ready().then(
      () => true,
      () => false,
    );
  const untilReadyIs = async (ready: boolean) => {
    while ((await isReady()) !== ready) await sleep(20);
  };
  expect(await isReady()).toBe(false);
  await untilReadyIs(true);
  await first.stop();
  await untilReadyIs(false);
  const second = await startKafka({ databaseUrl: database.url, port: Number(first.brokers.split(':')[1]) });
  await untilReadyIs(true);
  await sendTo(kafka, 'outage', ['{"n":1}']);
  while (handled.length === 0) await sleep(20);
  await consumer.stop();
  await second.stop();
  await database.drop();
});

test('stops in time while Kafka is unavailable', async () => {
  const database = await testDatabase();
  const server = await startKafka({ databaseUrl: database.url, port: await freePort() });
  const kafka = clientOf(server.brokers);
  await ensureTopics(kafka, ['outage'], { partitions: 1, replication: 1 });
  let handled = 0;
  const consumer = consume({
    kafka,
    groupId: 'outage',
    topics: [{ name: 'outage', message: Numbered }],
    handle: async (messages) => void (handled += messages.length),
    isTransientError: () => false,
    log,
  });
  await sendTo(kafka, 'outage', ['{"n":1}']);
  while (handled === 0) await sleep(5);
  await server.stop();
  // The consumer is trying to rejoin its group.
  await sleep(500);
  const startedAt = performance.now();
  await consumer.stop();
  expect(performance.now() - startedAt).toBeLessThan(7_000);
  // The client leaves its group when it can, and closes its connections. Otherwise the process of the tests would hang.
  const again = await startKafka({ databaseUrl: database.url, port: server.port });
  await consumer.stop();
  await again.stop();
  await database.drop();
});
