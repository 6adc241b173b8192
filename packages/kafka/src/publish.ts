import { type DomainMessage, partitionKeyOf } from '@cpg/contracts';
import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

export interface Publisher {
  /** Publishes in the given order; resolves once all replicas have them. */
  readonly publish: (topic: string, messages: readonly DomainMessage[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** An idempotent producer. After a failure its place in the sequence is unknown, so the next call begins with a new one. */
export const createPublisher = (kafka: Kafka): Publisher => {
  let current: Promise<Producer> | undefined;
  const producer = (): Promise<Producer> => {
    current ??= connect(kafka).catch((error: unknown) => {
      current = undefined;
      throw error;
    });
    return current;
  };
  const dispose = async () => {
    const old = current;
    current = undefined;
    await old?.then((connected) => connected.disconnect()).catch(() => {});
  };
  return {
    publish: async (topic, messages) => {
      const connected = await producer();
      try {
        await connected.send({ topic, acks: -1, messages: messages.map(encode) });
      } catch (error) {
        await dispose();
        throw error;
      }
    },
    close: dispose,
  };
};

const connect = async (kafka: Kafka): Promise<Producer> => {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return producer;
};

const encode = (message: DomainMessage): Message => ({
  key: partitionKeyOf(message),
  value: JSON.stringify(message),
  timestamp: String(Date.parse(message.time)),
  headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
});
