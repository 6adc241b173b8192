import { deadLetterTopicOf } from '@cpg/contracts';
import type { Logger } from '@cpg/runtime';
import { type Kafka, type KafkaMessage, Partitioners, type Producer } from 'kafkajs';

/** What a parked record says of itself, over its own headers: where it came from, who could not process it, and why. */
export const DEAD_LETTER_HEADERS = ['topic', 'partition', 'offset', 'group', 'reason'] as const;

/** On a record that was redriven: the group it is for. The others had no trouble with it. */
export const REDRIVEN_FOR_HEADER = 'redriven-for';

export const isRedrivenForAnotherGroup = ({ headers }: KafkaMessage, groupId: string): boolean => {
  const group = headers?.[REDRIVEN_FOR_HEADER]?.toString();
  return group !== undefined && group !== groupId;
};

export type DeadLetterProducer = ReturnType<typeof createDeadLetterProducer>;

/** Sets records aside on their dead-letter topics, for one group. */
export const createDeadLetterProducer = (kafka: Kafka, group: string) => {
  let producer: Promise<Producer> | undefined;
  const connected = () => {
    producer ??= (async () => {
      const made = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await made.connect();
      return made;
    })().catch((error: unknown) => {
      producer = undefined;
      throw error;
    });
    return producer;
  };
  return {
    park: async (topic: string, partition: number, record: KafkaMessage, reason: string, log: Logger) => {
      const origin = { topic, partition: String(partition), offset: record.offset, group };
      const { key, value, headers, timestamp } = record;
      const messages = [{ key, value, timestamp, headers: { ...headers, ...origin, reason } }];
      await (await connected()).send({ topic: deadLetterTopicOf(topic), acks: -1, messages });
      log.error({ ...origin, reason }, 'message parked on its dead-letter topic');
    },
    close: async () => {
      await producer?.then((made) => made.disconnect());
    },
  };
};
