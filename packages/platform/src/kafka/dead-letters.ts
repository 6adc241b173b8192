import { randomUUID } from 'node:crypto';
import { deadLetterTopicOf } from '@cpg/contracts';
import { CompressionTypes, type IHeaders, type Kafka, type KafkaMessage, Partitioners } from 'kafkajs';
import { HEARTBEAT_INTERVAL_MS, withHeartbeats } from './batch-handler.ts';
import { REDRIVEN_FOR_HEADER } from './dead-letter-producer.ts';

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

/** Headers that a dead letter has in addition to those of the original message: origin, failing group and reason. */
const DEAD_LETTER_HEADERS = ['topic', 'partition', 'offset', 'group', 'reason'] as const;

/** A message that a consumer group could not process. */
export interface DeadLetter {
  /** Offset on the dead-letter topic. */
  readonly offset: string;
  /** The group that could not process it. */
  readonly group: string;
  /** Partition on the original topic. */
  readonly partition: string;
  /** Offset on the original topic. */
  readonly at: string;
  readonly reason: string;
  readonly key: string | null;
  readonly value: string | null;
}

const toDeadLetter = ({ offset, key, value, headers = {} }: KafkaMessage): DeadLetter => {
  const header = (name: (typeof DEAD_LETTER_HEADERS)[number]) => headers[name]?.toString() ?? '';
  return {
    offset,
    group: header('group'),
    partition: header('partition'),
    at: header('offset'),
    reason: header('reason'),
    key: key?.toString() ?? null,
    value: value?.toString() ?? null,
  };
};

/** Offsets on the dead-letter topic, both inclusive. */
export interface OffsetRange {
  readonly from?: bigint | undefined;
  readonly through?: bigint | undefined;
}

/** Consumer group whose committed offset separates completed from pending dead letters. */
const COMPLETED_GROUP = 'dead-letters';

const SILENCE_TIMEOUT_MS = 15_000;

/** The pending dead letters of a topic: from offset `first` up to, but excluding, `end`. */
const pendingOffsets = async (kafka: Kafka, topic: string): Promise<{ first: bigint; end: bigint }> => {
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
const forEachPending = async (
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
