import { randomUUID } from 'node:crypto';
import { CompressionTypes, type IHeaders, type Kafka, type KafkaMessage, Partitioners } from 'kafkajs';
import { REDRIVEN_FOR_HEADER } from './dead-letter-producer.ts';
import { DEAD_LETTER_HEADERS, type DeadLetter, toDeadLetter } from './dead-letter.ts';
import { COMPLETED_GROUP, forEachPending, type OffsetRange, pendingOffsets } from './pending-letters.ts';

/** The dead letters of a topic. A letter is pending until it is redriven or discarded. It stays on the topic until
 *  retention deletes it. */
export interface DeadLetters {
  /** The number of pending letters. */
  readonly count: () => Promise<number>;
  /** Passes the pending letters to `onLetter`, oldest first and one at a time, so that memory holds at most one fetch.
   *  Resolves to their number. */
  readonly read: (onLetter: (letter: DeadLetter) => Promise<void>, range?: OffsetRange) => Promise<number>;
  /** Publishes pending letters again, oldest first, with their key, value and headers. Resolves to their number.
   *  Only the group that could not process a message handles it again; other groups skip it.
   *  Each letter is marked as completed after it was published. After a crash, run it again: at most one letter is
   *  published twice. */
  readonly redrive: (through?: bigint) => Promise<number>;
  /** Marks pending letters up to an offset as completed without publishing them. Resolves to their number. */
  readonly discard: (through: bigint) => Promise<number>;
}

export const createDeadLetters = (kafka: Kafka, topic: string): DeadLetters => ({
  count: async () => {
    const { first, end } = await pendingOffsets(kafka, topic);
    return end > first ? Number(end - first) : 0;
  },
  read: async (onLetter, range = {}) => {
    const groupId = `${COMPLETED_GROUP}-${randomUUID()}`;
    const count = await forEachPending(kafka, topic, { ...range, groupId }, (record) => onLetter(toDeadLetter(record)));
    if (count > 0) await deleteGroup(kafka, groupId);
    return count;
  },
  redrive: async (through) => {
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    try {
      return await forEachPending(kafka, topic, { groupId: COMPLETED_GROUP, through }, async (record) => {
        const compression = CompressionTypes.GZIP;
        await producer.send({ topic, acks: -1, compression, messages: [redrivenMessage(record)] });
      });
    } finally {
      await producer.disconnect();
    }
  },
  discard: (through) => forEachPending(kafka, topic, { groupId: COMPLETED_GROUP, through }, async () => {}),
});

/** The original message, addressed to the group that could not process it. */
const redrivenMessage = ({ key, value, headers = {}, timestamp }: KafkaMessage) => {
  const added: readonly string[] = DEAD_LETTER_HEADERS;
  const original = Object.entries(headers).filter(([name]) => !added.includes(name));
  const redriven: IHeaders = { ...Object.fromEntries(original), [REDRIVEN_FOR_HEADER]: headers['group'] };
  return { key, value, timestamp, headers: redriven };
};

const deleteGroup = async (kafka: Kafka, groupId: string): Promise<void> => {
  const admin = kafka.admin();
  await admin.connect();
  await admin.deleteGroups([groupId]).catch(() => {});
  await admin.disconnect();
};
