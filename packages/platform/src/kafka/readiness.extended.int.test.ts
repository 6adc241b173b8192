import { setTimeout as sleep } from 'node:timers/promises';
import { consume } from './consume.ts';
import { startEmbeddedBroker } from './testing/jest-broker.ts';
import { clientOf, log, Numbered, sendTo } from './testing/jest-numbered.ts';
import { ensureTopics } from './topics.ts';

const isReady = (consumer: ReturnType<typeof consume>): Promise<boolean> =>
  consumer.ready().then(
    () => true,
    () => false,
  );

test('is not ready while Kafka is unavailable, and consumes again afterwards', async () => {
  const broker = await startEmbeddedBroker();
  const kafka = clientOf(broker.brokers);
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
  const untilReadyIs = async (ready: boolean) => {
    while ((await isReady(consumer)) !== ready) await sleep(20);
  };
  expect(await isReady(consumer)).toBe(false);
  await untilReadyIs(true);
  await broker.stop();
  await untilReadyIs(false);
  await broker.start();
  await untilReadyIs(true);
  await sendTo(kafka, 'outage', ['{"n":1}']);
  while (handled.length === 0) await sleep(20);
  await consumer.stop();
  await broker.remove();
});

test('stops while Kafka is unavailable', async () => {
  const broker = await startEmbeddedBroker();
  const kafka = clientOf(broker.brokers);
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
  await broker.stop();
  // The consumer is trying to rejoin its group.
  while (await isReady(consumer)) await sleep(20);
  // It ends although Kafka is not back.
  await consumer.stop();
  // The client leaves its group when it can, and closes its connections. Otherwise the process of the tests would hang.
  await broker.start();
  await consumer.stop();
  await broker.remove();
});
