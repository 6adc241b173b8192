import { randomUUID } from 'node:crypto';
import { type DomainMessage, partitionKeyOf, TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import { until } from './until.ts';

/** All messages of both topics, parsed by the contracts. */
export interface KafkaLog {
  /** The messages of one order or payment, in order, without repeated ones. */
  readonly messagesOf: (subject: string) => DomainMessage[];
  /** Waits until `enough` accepts the messages of an order or payment, and resolves with them. */
  readonly waitFor: (subject: string, enough: (messages: DomainMessage[]) => boolean) => Promise<DomainMessage[]>;
  /** Messages that violate their contract, have a wrong key, or were repeated with other bytes: none, if all is
   *  well. */
  readonly faults: () => string[];
  readonly close: () => Promise<void>;
}

/** Reads both topics from the beginning with a plain kafkajs consumer in a new group. */
export const readKafkaLog = async (brokers: string): Promise<KafkaLog> => {
  const messages: DomainMessage[] = [];
  const faults: string[] = [];
  const known = new Map<string, string>();
  const kafka = new Kafka({ clientId: 'acceptance', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({
    groupId: `acceptance-${randomUUID()}`,
    maxWaitTimeInMs: 200,
    // Tests kill and restart the broker.
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 60, restartOnFailure: async () => true },
  });
  const interruptions: string[] = [];
  const { CRASH, REBALANCING, REQUEST_TIMEOUT } = consumer.events;
  for (const name of [CRASH, REBALANCING, REQUEST_TIMEOUT] as const)
    consumer.on(name, ({ timestamp, payload }) => {
      interruptions.push(`${name} at ${new Date(timestamp).toISOString()}: ${JSON.stringify(payload)}`);
    });
  await consumer.connect();
  await consumer.subscribe({ topics: [TOPICS.orders.name, TOPICS.payments.name], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ topic, message: { key, value } }) => {
      const schema = topic === TOPICS.orders.name ? TOPICS.orders.message : TOPICS.payments.message;
      const parsed = schema.safeParse(JSON.parse(value?.toString() ?? 'null'));
      if (!parsed.success) return void faults.push(`${topic}: ${parsed.error.message}: ${value?.toString()}`);
      const message = parsed.data;
      if (key?.toString() !== partitionKeyOf(message)) faults.push(`${message.id} has the key ${key?.toString()}`);
      const text = value!.toString();
      const earlier = known.get(message.id);
      if (earlier === undefined) messages.push(message);
      else if (earlier !== text) faults.push(`${message.id} was published again with other bytes`);
      known.set(message.id, text);
    },
  });
  const messagesOf = (subject: string) => messages.filter((message) => message.subject === subject);
  return {
    messagesOf,
    waitFor: (subject, enough) =>
      until(`messages of ${subject}`, () => {
        const found = messagesOf(subject);
        return found.length > 0 && enough(found) && found;
      }).catch((cause: unknown) => {
        const types = messagesOf(subject).map(({ type }) => type);
        throw new Error([`${subject} has ${types.join(', ') || 'no message'}`, ...interruptions].join('\n'), { cause });
      }),
    faults: () => [...faults],
    close: () => consumer.disconnect(),
  };
};

/** Waits until a consumer group has committed everything that is in the topics now. */
export const waitUntilConsumed = async (groupId: string, brokers: string): Promise<void> => {
  const kafka = new Kafka({ clientId: 'acceptance', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    for (const topic of [TOPICS.orders.name, TOPICS.payments.name]) {
      const topicOffsets = await admin.fetchTopicOffsets(topic);
      await until(`${groupId} to consume ${topic}`, async () => {
        const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
        const committed = new Map(group!.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
        return topicOffsets.every(
          ({ partition, high }) => Number(high) === 0 || (committed.get(partition) ?? -1) >= Number(high),
        );
      });
    }
  } finally {
    await admin.disconnect();
  }
};
