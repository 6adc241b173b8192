import { deadLetterTopicOf } from '@cpg/contracts';
import type { Logger } from '../log/logger.ts';
import { CompressionTypes, type Kafka, type KafkaMessage, type Message, Partitioners, type Producer } from 'kafkajs';
import { isRefused } from './publisher.ts';

/** Header of a redriven message: the consumer group it is for. Other groups skip the message. */
export const REDRIVEN_FOR_HEADER = 'redriven-for';

export const isRedrivenForAnotherGroup = ({ headers }: KafkaMessage, groupId: string): boolean => {
  const group = headers?.[REDRIVEN_FOR_HEADER]?.toString();
  return group !== undefined && group !== groupId;
};

const MAX_REASON = 4_096;
const NOT_COPIED =
  'Kafka refused a copy of this message: read it at its partition and offset. A redrive would publish no value: discard it';

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
  // A large message arrived compressed: Kafka refuses it otherwise, and the partition would stop at it.
  const compression = CompressionTypes.GZIP;
  const sendOne = async (topic: string, message: Message) =>
    (await connectedProducer()).send({ topic: deadLetterTopicOf(topic), acks: -1, compression, messages: [message] });
  return {
    send: async (topic: string, partition: number, record: KafkaMessage, reason: string, log: Logger) => {
      const origin = { topic, partition: String(partition), offset: record.offset, group };
      const { key, value, headers, timestamp } = record;
      const added = { ...origin, reason: reason.slice(0, MAX_REASON) };
      await sendOne(topic, { key, value, timestamp, headers: { ...headers, ...added } }).catch(
        async (error: unknown) => {
          if (!isRefused(error)) throw error;
          // With its headers the copy is too large, or it has an impossible time: the original names it well enough.
          const refusal = `${NOT_COPIED}\n${added.reason}`;
          await sendOne(topic, { key: null, value: null, headers: { ...added, reason: refusal } });
        },
      );
      count(topic);
      log.error(added, 'message sent to its dead-letter topic');
    },
    close: async () => {
      await producer?.then((connected) => connected.disconnect());
    },
  };
};
