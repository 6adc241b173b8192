import { randomUUID } from 'node:crypto';
import { testDatabase } from '@cpg/platform/postgres/testing';
import {
  type Admin,
  type Consumer,
  type ConsumerConfig,
  Kafka,
  type KafkaMessage,
  Partitioners,
  type Producer,
  type ProducerConfig,
  logLevel,
} from 'kafkajs';
import { type KafkaOptions, startKafka } from '../index.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';

process.env.KAFKAJS_NO_PARTITIONER_WARNING = '1';

/** A broker with connected clients of kafkajs. */
export interface Cluster {
  readonly brokers: string;
  readonly client: Kafka;
  readonly admin: Admin;
  readonly producer: Producer;
  readonly stop: () => Promise<void>;
}

/** Tests write records with old timestamps, which retention must not delete. */
const KEEP_RECORDS = { ...DEFAULT_SETTINGS.topicDefaults, 'retention.ms': -1 };

/** Connects to the broker under test: the one at KAFKA_BROKERS, or an embedded one with its own database. */
export const startCluster = async (options: Partial<KafkaOptions> = {}): Promise<Cluster> => {
  const { KAFKA_BROKERS } = process.env;
  if (KAFKA_BROKERS) return connectClients(KAFKA_BROKERS, async () => {});
  const database = await testDatabase();
  const kafka = await startKafka({ databaseUrl: database.url, port: 0, topicDefaults: KEEP_RECORDS, ...options });
  return connectClients(kafka.brokers, async () => {
    await kafka.stop();
    await database.drop();
  });
};

const connectClients = async (brokers: string, stopBroker: () => Promise<void>): Promise<Cluster> => {
  const client = clientOf(brokers);
  const admin = client.admin();
  await admin.connect();
  const producer = await producerOf(client);
  const stop = async () => {
    await disconnectAll(admin, producer);
    await stopBroker();
  };
  return { brokers, client, admin, producer, stop };
};

/** A client that retries long enough for a broker restart. */
export const clientOf = (brokers: string, retries = 30): Kafka =>
  new Kafka({
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries },
  });

export const producerOf = async (client: Kafka, config: ProducerConfig = {}) => {
  const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner, ...config });
  await producer.connect();
  return producer;
};

export const newName = (prefix: string): string => `${prefix}-${randomUUID()}`;

export const newTopic = async (
  admin: Admin,
  numPartitions = 1,
  config: Record<string, string> = {},
): Promise<string> => {
  const topic = newName('topic');
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
  await admin.createTopics({ topics: [{ topic, numPartitions, configEntries }] });
  // Apache Kafka reports a topic as created before it serves all partitions. A message sent before that could be stored
  // twice.
  await until(() => isServed(admin, topic));
  return topic;
};

const isServed = (admin: Admin, topic: string): Promise<boolean> =>
  admin.fetchTopicOffsets(topic).then(
    () => true,
    (error: { retriable?: boolean }) => {
      if (error.retriable) return false;
      throw error;
    },
  );

export type Received = KafkaMessage & { readonly topic: string; readonly partition: number };

/** Starts a consumer of `topic` and collects its messages. A new group starts at the beginning of the topic. */
export const follow = async (
  client: Kafka,
  topic: string,
  config: Partial<ConsumerConfig> = {},
  { fromBeginning = true } = {},
) => {
  const shortWaits = { heartbeatInterval: 100, maxWaitTimeInMs: 200, rebalanceTimeout: 10_000 };
  const consumer = client.consumer({ groupId: newName('group'), ...shortWaits, ...config });
  const received: Received[] = [];
  let assigned: number[] = [];
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    assigned = payload.memberAssignment[topic] ?? [];
  });
  let fetching = false;
  consumer.on(consumer.events.FETCH, () => {
    fetching = true;
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning });
  await consumer.run({
    eachMessage: async ({ topic: from, partition, message }) => {
      received.push({ ...message, topic: from, partition });
    },
  });
  return { consumer, received, assigned: () => assigned, fetching: () => fetching };
};

/** The values of the first `count` messages of the topic, from any partition. */
export const readValues = async (
  client: Kafka,
  topic: string,
  count: number,
  config: Partial<ConsumerConfig> = {},
): Promise<string[]> => (await readMessages(client, topic, count, config)).map(({ value }) => String(value));

export const readMessages = async (
  client: Kafka,
  topic: string,
  count: number,
  config: Partial<ConsumerConfig> = {},
): Promise<Received[]> => {
  const { consumer, received } = await follow(client, topic, config);
  try {
    await until(() => received.length >= count);
    return received;
  } finally {
    await consumer.disconnect();
  }
};

/** Waits until `condition` is true. The timeout of the test ends the wait. */
export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 10));
};

export const disconnectAll = (...clients: (Consumer | { disconnect: () => Promise<void> })[]): Promise<unknown> =>
  Promise.all(clients.map((client) => client.disconnect()));
