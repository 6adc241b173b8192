import { randomUUID } from 'node:crypto';
import { deadLetterTopicOf } from '@cpg/contracts';
import { type IHeaders, type Kafka, type KafkaMessage, Partitioners } from 'kafkajs';
import { PARKED_HEADERS, REDRIVEN_FOR } from './parking.ts';

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

/** The dead letters of one topic. What was redriven or discarded does not wait any more; it stays on the topic as long as that keeps it. */
export interface DeadLetters {
  readonly count: () => Promise<number>;
  readonly waiting: () => Promise<DeadLetter[]>;
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

export const deadLetters = (kafka: Kafka, topic: string): DeadLetters => {
  const from = deadLetterTopicOf(topic);

  const span = async (): Promise<{ first: bigint; end: bigint }> => {
    const admin = kafka.admin();
    await admin.connect();
    try {
      const [there] = await admin.fetchTopicOffsets(from);
      const [done] = await admin.fetchOffsets({ groupId: DONE_GROUP, topics: [from] });
      const offset = BigInt(done?.partitions[0]?.offset ?? '-1');
      const low = BigInt(there!.low);
      return { first: offset > low ? offset : low, end: BigInt(there!.high) };
    } finally {
      await admin.disconnect();
    }
  };

  /** Hands over the records that wait, in order, up to an offset; the group's offset moves after each that `done` resolved for. */
  const each = async (
    { groupId, through }: { groupId: string; through?: bigint | undefined },
    work: (record: KafkaMessage) => Promise<void>,
  ): Promise<number> => {
    const { first, end } = await span();
    const stop = through !== undefined && through < end ? through + 1n : end;
    if (first >= stop) return 0;
    let count = 0;
    const consumer = kafka.consumer({
      groupId,
      maxWaitTimeInMs: 200,
      sessionTimeout: 6_000,
      heartbeatInterval: 1_500,
    });
    await consumer.connect();
    try {
      await consumer.subscribe({ topics: [from], fromBeginning: true });
      await new Promise<void>((done, fail) => {
        const alarm = setTimeout(
          () => fail(new Error(`nothing came from ${from}: another redrives it now, or Kafka is away`)),
          NOTHING_COMES_MS,
        );
        consumer.on('consumer.crash', ({ payload }) => fail(payload.error));
        void consumer
          .run({
            autoCommit: false,
            eachMessage: async ({ partition, message }) => {
              const offset = BigInt(message.offset);
              if (offset < first) return;
              if (offset < stop) {
                await work(message);
                if (groupId === DONE_GROUP)
                  await consumer.commitOffsets([{ topic: from, partition, offset: String(offset + 1n) }]);
                count += 1;
                alarm.refresh();
              }
              if (offset + 1n < stop) return;
              clearTimeout(alarm);
              done();
            },
          })
          .catch(fail);
        consumer.seek({ topic: from, partition: 0, offset: String(first) });
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
    waiting: async () => {
      const letters: DeadLetter[] = [];
      const groupId = `${DONE_GROUP}-${randomUUID()}`;
      await each({ groupId }, async (record) => void letters.push(letterOf(record)));
      if (letters.length > 0) await forgetGroup(kafka, groupId);
      return letters;
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
          const own = Object.entries(headers).filter(([name]) => !(PARKED_HEADERS as readonly string[]).includes(name));
          const again: IHeaders = { ...Object.fromEntries(own), [REDRIVEN_FOR]: headers['group'] };
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
  const header = (name: (typeof PARKED_HEADERS)[number]) => headers[name]?.toString() ?? '';
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
