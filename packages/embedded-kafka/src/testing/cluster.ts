import { randomUUID } from 'node:crypto';
import {
  type Admin,
  type Consumer,
  type ConsumerConfig,
  type KafkaMessage,
  Kafka,
  Partitioners,
  type ProducerConfig,
  logLevel,
} from 'kafkajs';
import { type KafkaOptions, startKafka } from '../index.ts';
import { newDatabase } from './database.ts';

process.env.KAFKAJS_NO_PARTITIONER_WARNING = '1';

export interface Cluster {
  readonly brokers: string;
  readonly client: Kafka;
  readonly stop: () => Promise<void>;
}

/** The broker under test: the one at KAFKA_BROKERS, or an embedded one on a database of its own. */
export const startCluster = async (options: Partial<KafkaOptions> = {}): Promise<Cluster> => {
  const { KAFKA_BROKERS } = process.env;
  if (KAFKA_BROKERS) return { brokers: KAFKA_BROKERS, client: clientOf(KAFKA_BROKERS), stop: async () => {} };
  const database = await newDatabase();
  const kafka = await startKafka({ databaseUrl: database.url, port: 0, ...options });
  const stop = async () => {
    await kafka.stop();
    await database.drop();
  };
  return { brokers: kafka.brokers, client: clientOf(kafka.brokers), stop };
};

/** Patient enough for a broker that comes back within seconds. */
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

export const newName = (what: string): string => `${what}-${randomUUID()}`;

export const newTopic = async (
  admin: Admin,
  numPartitions = 1,
  config: Record<string, string> = {},
): Promise<string> => {
  const topic = newName('topic');
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
  await admin.createTopics({ topics: [{ topic, numPartitions, configEntries }] });
  // The real broker says a topic is made before it serves it: what is sent until then is refused for some partitions and sent
  // again for all.
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

/** A running consumer of `topic`, from its beginning unless the group has committed, and what it has received. */
export const follow = async (
  client: Kafka,
  topic: string,
  config: Partial<ConsumerConfig> = {},
  { fromBeginning = true } = {},
) => {
  const quick = { heartbeatInterval: 100, maxWaitTimeInMs: 200, rebalanceTimeout: 10_000 };
  const consumer = client.consumer({ groupId: newName('group'), ...quick, ...config });
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

/** Values of the first `count` messages of the topic, whatever their partition. */
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

/** Waits until `condition` holds. A condition that never does ends in the time-out of the test. */
export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 10));
};

export const disconnectAll = (...clients: (Consumer | { disconnect: () => Promise<void> })[]): Promise<unknown> =>
  Promise.all(clients.map((client) => client.disconnect()));
