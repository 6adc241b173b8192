import { deadLetterTopicOf } from '@cpg/contracts';
import type { Kafka, KafkaMessage } from 'kafkajs';
import { HEARTBEAT_INTERVAL_MS, withHeartbeats } from './heartbeats.ts';

/** Offsets on the dead-letter topic, both inclusive. */
export interface OffsetRange {
  readonly from?: bigint | undefined;
  readonly through?: bigint | undefined;
}

/** Consumer group whose committed offset separates completed from pending dead letters. */
export const COMPLETED_GROUP = 'dead-letters';

const SILENCE_TIMEOUT_MS = 15_000;

/** The pending dead letters of a topic: from offset `first` up to, but excluding, `end`. */
export const pendingOffsets = async (kafka: Kafka, topic: string): Promise<{ first: bigint; end: bigint }> => {
  const deadLetterTopic = deadLetterTopicOf(topic);
  const admin = kafka.admin();
  await admin.connect();
  try {
    const [available] = await admin.fetchTopicOffsets(deadLetterTopic);
    const [committed] = await admin.fetchOffsets({ groupId: COMPLETED_GROUP, topics: [deadLetterTopic] });
    const completed = BigInt(committed?.partitions[0]?.offset ?? '-1');
    const low = BigInt(available!.low);
    return { first: completed > low ? completed : low, end: BigInt(available!.high) };
  } finally {
    await admin.disconnect();
  }
};

/** Runs `work` for each pending dead letter in the range, in order. Resolves to their number.
 *  With the group COMPLETED_GROUP, each letter is marked as completed after `work` resolved for it. */
export const forEachPending = async (
  kafka: Kafka,
  topic: string,
  { groupId, from = 0n, through }: OffsetRange & { groupId: string },
  work: (record: KafkaMessage) => Promise<void>,
): Promise<number> => {
  const { first, end } = await pendingOffsets(kafka, topic);
  const stop = through !== undefined && through < end ? through + 1n : end;
  const start = from > first ? from : first;
  if (start >= stop) return 0;
  return consumeRange(kafka, deadLetterTopicOf(topic), { groupId, start, stop }, work);
};

/** Consumes the offsets from `start` up to, but excluding, `stop`. Rejects when no message arrives for 15 s. */
const consumeRange = async (
  kafka: Kafka,
  deadLetterTopic: string,
  { groupId, start, stop }: { groupId: string; start: bigint; stop: bigint },
  work: (record: KafkaMessage) => Promise<void>,
): Promise<number> => {
  const consumer = kafka.consumer({
    groupId,
    maxWaitTimeInMs: 200,
    sessionTimeout: 6_000,
    heartbeatInterval: HEARTBEAT_INTERVAL_MS,
  });
  let next = start;
  let count = 0;
  const handle = async (partition: number, record: KafkaMessage, heartbeat: () => Promise<void>) => {
    const offset = BigInt(record.offset);
    if (offset < stop) {
      await withHeartbeats(heartbeat, () => work(record));
      if (groupId === COMPLETED_GROUP)
        await consumer.commitOffsets([{ topic: deadLetterTopic, partition, offset: String(offset + 1n) }]);
      count += 1;
      next = offset + 1n;
    }
    return offset + 1n >= stop;
  };
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [deadLetterTopic], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const onSilence = () =>
        reject(
          new Error(
            `no message arrived from ${deadLetterTopic}: another process is redriving it, or Kafka is unavailable`,
          ),
        );
      let timer = setTimeout(onSilence, SILENCE_TIMEOUT_MS);
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
      void consumer
        .run({
          autoCommit: false,
          eachMessage: async ({ partition, message, heartbeat }) => {
            // After a rebalance the group starts again at its committed offset.
            if (BigInt(message.offset) < next) return;
            clearTimeout(timer);
            if (await handle(partition, message, heartbeat)) resolve();
            else timer = setTimeout(onSilence, SILENCE_TIMEOUT_MS);
          },
        })
        .catch(reject);
      consumer.seek({ topic: deadLetterTopic, partition: 0, offset: String(start) });
    });
    return count;
  } finally {
    await consumer.disconnect();
  }
};
