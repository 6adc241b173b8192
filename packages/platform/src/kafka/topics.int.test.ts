import { createLogger } from '../log/logger.ts';
import { ConfigResourceTypes, type Kafka } from 'kafkajs';
import { createKafka } from './client.ts';
import { startBroker } from './testing/jest-broker.ts';
import { ensureTopics } from './topics.ts';

const DAY_MS = 86_400_000;

const log = createLogger({ name: 'test', level: 'silent' });
let broker: Awaited<ReturnType<typeof startBroker>>;
let kafka: Kafka;

beforeAll(async () => {
  broker = await startBroker();
  kafka = createKafka({ KAFKA_BROKERS: [broker.brokers] }, { clientId: 'test', log });
});
afterAll(() => broker.stop());

const retentionOf = async (name: string): Promise<string | undefined> => {
  const admin = kafka.admin();
  await admin.connect();
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name, configNames: ['retention.ms'] }],
  });
  await admin.disconnect();
  return resources[0]?.configEntries[0]?.configValue;
};

test('a new topic keeps messages and dead letters for the configured days', async () => {
  await ensureTopics(kafka, ['kept'], { partitions: 1, replication: 1, retentionDays: 7 });
  expect(await retentionOf('kept')).toBe(String(7 * DAY_MS));
  expect(await retentionOf('kept.dlq')).toBe(String(7 * DAY_MS));
});

test('a topic keeps messages for 30 days by default', async () => {
  await ensureTopics(kafka, ['kept-by-default'], { partitions: 1, replication: 1 });
  expect(await retentionOf('kept-by-default')).toBe(String(30 * DAY_MS));
});

test('an existing topic gets the configured retention', async () => {
  const topic = `existing-${Date.now()}`;
  await ensureTopics(kafka, [topic], { partitions: 1, replication: 1 });
  await ensureTopics(kafka, [topic], { partitions: 1, replication: 1, retentionDays: 7 });
  expect(await retentionOf(topic)).toBe(String(7 * DAY_MS));
  expect(await retentionOf(`${topic}.dlq`)).toBe(String(7 * DAY_MS));
});
