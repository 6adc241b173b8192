import { randomUUID } from 'node:crypto';
import type { Kafka, KafkaMessage } from 'kafkajs';
import { withHeartbeats } from './batch-handler.ts';

const SILENCE_MS = 5_000;

/** Calls `handle` with all committed messages that a topic has now, in batches, each partition in order. Resolves to
 *  their number; a topic that does not exist has none. Rejects when Kafka is unavailable. */
export const readTopic = async (
  kafka: Kafka,
  topic: string,
  handle: (messages: KafkaMessage[], partition: number) => Promise<void>,
): Promise<number> => {
  const groupId = `read-${randomUUID()}`;
  const waiting = await endOffsets(kafka, topic);
  if (waiting.size === 0) return 0;
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 200 });
  let count = 0;
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      // An open transaction hides the end of its partition: then the topic is read when fetches bring no batch for
      // SILENCE_MS.
      let fetched = false;
      const onSilence = () =>
        fetched ? resolve() : reject(new Error(`Kafka does not answer: ${topic} cannot be read`));
      let timer = setTimeout(onSilence, 3 * SILENCE_MS);
      const stopTimer = () => clearTimeout(timer);
      consumer.on('consumer.fetch', () => void (fetched = true));
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
      consumer.on('consumer.end_batch_process', ({ payload }) => {
        stopTimer();
        const end = waiting.get(payload.partition);
        if (end !== undefined && BigInt(payload.lastOffset) + 1n >= end) waiting.delete(payload.partition);
        if (waiting.size === 0) return resolve();
        fetched = false;
        timer = setTimeout(onSilence, SILENCE_MS);
      });
      const eachBatch = async ({ batch, heartbeat }: { batch: Batch; heartbeat: () => Promise<void> }) => {
        stopTimer();
        await withHeartbeats(heartbeat, () => handle(batch.messages, batch.partition)).catch((error: unknown) => {
          reject(error);
          throw error;
        });
        count += batch.messages.length;
      };
      consumer.run({ autoCommit: false, eachBatch }).catch(reject);
    });
    return count;
  } finally {
    await consumer.disconnect();
    const admin = kafka.admin();
    await admin.connect();
    await admin.deleteGroups([groupId]).catch(() => {});
    await admin.disconnect();
  }
};

interface Batch {
  readonly partition: number;
  readonly messages: KafkaMessage[];
}

/** The end offset of each partition that has messages. */
const endOffsets = async (kafka: Kafka, topic: string): Promise<Map<number, bigint>> => {
  const admin = kafka.admin();
  await admin.connect();
  try {
    if (!(await admin.listTopics()).includes(topic)) return new Map();
    const partitions = await admin.fetchTopicOffsets(topic);
    return new Map(
      partitions
        .filter(({ low, high }) => BigInt(high) > BigInt(low))
        .map(({ partition, high }) => [partition, BigInt(high)]),
    );
  } finally {
    await admin.disconnect();
  }
};
