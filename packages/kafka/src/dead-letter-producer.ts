import { deadLetterTopicOf } from '@cpg/contracts';
import type { Logger } from '@cpg/runtime';
import { CompressionTypes, type Kafka, type KafkaMessage, Partitioners, type Producer } from 'kafkajs';

/** Header of a redriven message: the consumer group it is for. Other groups skip the message. */
export const REDRIVEN_FOR_HEADER = 'redriven-for';

export const isRedrivenForAnotherGroup = ({ headers }: KafkaMessage, groupId: string): boolean => {
  const group = headers?.[REDRIVEN_FOR_HEADER]?.toString();
  return group !== undefined && group !== groupId;
};

const MAX_REASON = 4_096;

export type DeadLetterProducer = ReturnType<typeof createDeadLetterProducer>;

/** Sends the messages that a consumer group could not process to their dead-letter topics. Connects on first use. */
export const createDeadLetterProducer = (kafka: Kafka, group: string, count: (topic: string) => void) => {
  let producer: Promise<Producer> | undefined;
  const connect = async () => {
    const connecting = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await connecting.connect();
    return connecting;
  };
  const connectedProducer = () =>
    (producer ??= connect().catch((error: unknown) => {
      producer = undefined;
      throw error;
    }));
  return {
    send: async (topic: string, partition: number, record: KafkaMessage, reason: string, log: Logger) => {
      const origin = { topic, partition: String(partition), offset: record.offset, group };
      const { key, value, headers, timestamp } = record;
      const added = { ...origin, reason: reason.slice(0, MAX_REASON) };
      const messages = [{ key, value, timestamp, headers: { ...headers, ...added } }];
      // A large message arrived compressed: Kafka refuses it otherwise, and the partition would stop at it.
      const compression = CompressionTypes.GZIP;
      await (await connectedProducer()).send({ topic: deadLetterTopicOf(topic), acks: -1, compression, messages });
      count(topic);
      log.error({ ...origin, reason }, 'message sent to its dead-letter topic');
    },
    close: async () => {
      await producer?.then((connected) => connected.disconnect());
    },
  };
};
