import { randomUUID } from 'node:crypto';
import { deadLetterTopicOf } from '@cpg/contracts';
import { type IHeaders, type Kafka, type KafkaMessage, Partitioners } from 'kafkajs';
import { HEARTBEAT_MS, withHeartbeats } from './heartbeats.ts';
import { DEAD_LETTER_HEADERS, REDRIVEN_FOR_HEADER } from './dead-letter-producer.ts';

/** A message that some group could not process. */
export interface DeadLetter {
  /** On the dead-letter topic. */
  readonly offset: string;
  /** Which group could not process it, where it stood, and why. */
  readonly group: string;
  readonly partition: string;
  readonly at: string;
  readonly reason: string;
  readonly key: string | null;
  readonly value: string | null;
}

/** Offsets on the dead-letter topic, both included. */
export interface OffsetRange {
  readonly from?: bigint | undefined;
  readonly through?: bigint | undefined;
}

/** The dead letters of one topic. What was redriven or discarded does not wait any more; it stays on the topic as long as that keeps it. */
export interface DeadLetters {
  readonly count: () => Promise<number>;
  /** Hands over what waits, oldest first, one after another however long each takes, so that no more of them than a fetch brings are in
   *  memory. Resolves with how many. */
  readonly read: (look: (letter: DeadLetter) => Promise<void>, range?: OffsetRange) => Promise<number>;
  /** Publishes what waits again, oldest first, up to an offset or all, with its key, value and headers. Resolves with how many. Only the
   *  group that could not process a message takes it up again; other readers of the topic see a repeat. Each is marked as done right after it
   *  was published: run again after a crash, at most the last one is published twice. */
  readonly redrive: (through?: bigint) => Promise<number>;
  /** Marks what waits as done up to an offset, unpublished. */
  readonly discard: (through: bigint) => Promise<number>;
}

// Remembers, by its committed offset, what is done.
const DONE_GROUP = 'dead-letters';
const NOTHING_COMES_MS = 15_000;

export const createDeadLetters = (kafka: Kafka, topic: string): DeadLetters => {
  const letters = deadLetterTopicOf(topic);

  const span = async (): Promise<{ first: bigint; end: bigint }> => {
    const admin = kafka.admin();
    await admin.connect();
    try {
      const [there] = await admin.fetchTopicOffsets(letters);
      const [done] = await admin.fetchOffsets({ groupId: DONE_GROUP, topics: [letters] });
      const offset = BigInt(done?.partitions[0]?.offset ?? '-1');
      const low = BigInt(there!.low);
      return { first: offset > low ? offset : low, end: BigInt(there!.high) };
    } finally {
      await admin.disconnect();
    }
  };

  /** Hands over the records that wait, in order; the group's offset moves after each that `work` resolved for. */
  const each = async (
    { groupId, from = 0n, through }: OffsetRange & { groupId: string },
    work: (record: KafkaMessage) => Promise<void>,
  ): Promise<number> => {
    const { first, end } = await span();
    const stop = through !== undefined && through < end ? through + 1n : end;
    let next = from > first ? from : first;
    if (next >= stop) return 0;
    let count = 0;
    const consumer = kafka.consumer({
      groupId,
      maxWaitTimeInMs: 200,
      sessionTimeout: 6_000,
      heartbeatInterval: HEARTBEAT_MS,
    });
    await consumer.connect();
    try {
      await consumer.subscribe({ topics: [letters], fromBeginning: true });
      await new Promise<void>((done, fail) => {
        const nothingComes = () =>
          fail(new Error(`nothing came from ${letters}: another redrives it now, or Kafka is away`));
        let alarm = setTimeout(nothingComes, NOTHING_COMES_MS);
        consumer.on('consumer.crash', ({ payload }) => fail(payload.error));
        void consumer
          .run({
            autoCommit: false,
            eachMessage: async ({ partition, message, heartbeat }) => {
              const offset = BigInt(message.offset);
              // A group that is dealt anew begins where it committed last.
              if (offset < next) return;
              clearTimeout(alarm);
              if (offset < stop) {
                await withHeartbeats(heartbeat, () => work(message));
                if (groupId === DONE_GROUP)
                  await consumer.commitOffsets([{ topic: letters, partition, offset: String(offset + 1n) }]);
                count += 1;
                next = offset + 1n;
              }
              if (offset + 1n >= stop) done();
              else alarm = setTimeout(nothingComes, NOTHING_COMES_MS);
            },
          })
          .catch(fail);
        consumer.seek({ topic: letters, partition: 0, offset: String(next) });
      });
      return count;
    } finally {
      await consumer.disconnect();
    }
  };

  return {
    count: async () => {
      const { first, end } = await span();
      return end > first ? Number(end - first) : 0;
    },
    read: async (look, range = {}) => {
      const groupId = `${DONE_GROUP}-${randomUUID()}`;
      const count = await each({ ...range, groupId }, (record) => look(letterOf(record)));
      if (count > 0) await forgetGroup(kafka, groupId);
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
        return await each({ groupId: DONE_GROUP, through }, async (record) => {
          const { key, value, headers = {}, timestamp } = record;
          const own = Object.entries(headers).filter(
            ([name]) => !(DEAD_LETTER_HEADERS as readonly string[]).includes(name),
          );
          const again: IHeaders = { ...Object.fromEntries(own), [REDRIVEN_FOR_HEADER]: headers['group'] };
          await producer.send({ topic, acks: -1, messages: [{ key, value, timestamp, headers: again }] });
        });
      } finally {
        await producer.disconnect();
      }
    },
    discard: (through) => each({ groupId: DONE_GROUP, through }, async () => {}),
  };
};

const letterOf = ({ offset, key, value, headers = {} }: KafkaMessage): DeadLetter => {
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

const forgetGroup = async (kafka: Kafka, groupId: string): Promise<void> => {
  const admin = kafka.admin();
  await admin.connect();
  await admin.deleteGroups([groupId]).catch(() => {});
  await admin.disconnect();
};
