import { setTimeout as sleep } from 'node:timers/promises';
import { isAppError } from '@cpg/core';
import { type Logger, retry, withTimeout } from '@cpg/runtime';
import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import type { z } from 'zod';
import { type OffsetCommitter, createOffsetCommitter } from './offset-committer.ts';
import { decode } from './decode.ts';
import { HEARTBEAT_MS, withHeartbeats } from './heartbeats.ts';
import {
  isRedrivenForAnotherGroup,
  type DeadLetterProducer,
  createDeadLetterProducer,
} from './dead-letter-producer.ts';

export interface ConsumedTopic<T> {
  readonly name: string;
  readonly message: z.ZodType<T>;
  /** The types of message that concern this consumer; others are passed over unread. All of them, when absent. */
  readonly types?: readonly string[];
}

export interface ConsumeOptions<T> {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topics: ReadonlyArray<ConsumedTopic<T>>;
  /** Handles messages of one partition, oldest first. Must be safe to run again for any of them: offsets are committed only after it
   *  resolved. A throw is tried again; a message that fails alone, `ATTEMPTS` times, is parked. */
  readonly handle: (messages: T[]) => Promise<void>;
  /** Whether an error means that something else is away: then the messages wait, however long. */
  readonly isTransientError: (error: unknown) => boolean;
  /** Nobody waits for it: messages may wait a moment for others to come along, which costs less for each. */
  readonly preferThroughput?: boolean;
  readonly log: Logger;
}

export interface RunningConsumer {
  /** Rejects while the group has not been joined, or has not been heard of for as long as it waits for a silent member. */
  readonly ready: () => Promise<void>;
  /** Finishes what runs, commits, and leaves the group, or gives that up while Kafka is away: what was not committed comes again. */
  readonly stop: () => Promise<void>;
}

const ATTEMPTS = 5;
const CHUNK = 200;
// The shortest session that brokers allow by default: how long the partitions of a member that died wait for another.
const SESSION_MS = 6_000;
const GATHERED_BYTES = 256 * 1_024;
const GATHERED_MS = 500;
/** Of its own accord kafkajs starts again only after what it takes for passing. */
const GAVE_UP_MS = 2_000;
// Of the 10 s that a service has to stop. While Kafka is away, kafkajs would try for longer than that.
const LEAVES_WITHIN_MS = 6_000;

/** Consumes topics as one member of a group, from the beginning at first. Connects in the background and again after every failure. */
export const consume = <T>(options: ConsumeOptions<T>): RunningConsumer => {
  const { kafka, groupId, topics, preferThroughput = false, log } = options;
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    rebalanceTimeout: 10_000,
    ...(preferThroughput ? { minBytes: GATHERED_BYTES, maxWaitTimeInMs: GATHERED_MS } : { maxWaitTimeInMs: 1_000 }),
    // The relay's transactions shut out a relay that was replaced. What they carry is true before they end, and need not wait for it.
    readUncommitted: true,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 20, restartOnFailure: async () => true },
  });
  const parking = createDeadLetterProducer(kafka, groupId);
  const commits = createOffsetCommitter(log);
  let latest: EachBatchPayload | null = null;
  // The end of a transaction is a record too. It often comes by itself, and then to nobody: a group that is done would seem to lag.
  consumer.on('consumer.end_batch_process', ({ payload: { batchSize } }) => {
    if (batchSize === 0 && latest) commits.schedule(latest);
  });
  let heardAt = -Infinity;
  const hear = () => {
    heardAt = performance.now();
  };
  consumer.on('consumer.group_join', hear);
  consumer.on('consumer.heartbeat', hear);
  const stopping = new AbortController();
  const start = () =>
    retry(
      async () => {
        await consumer.connect();
        await consumer.subscribe({ topics: topics.map(({ name }) => name), fromBeginning: true });
        await consumer.run({
          autoCommit: false,
          eachBatchAutoResolve: false,
          partitionsConsumedConcurrently: 4,
          eachBatch: (payload) => {
            latest = payload;
            return handleBatch(payload, options, { parking, commits, signal: stopping.signal });
          },
        });
      },
      {
        signal: stopping.signal,
        onError: (error) => log.warn({ err: error, groupId }, 'cannot consume yet, trying again'),
      },
    ).catch(() => {});
  let started = start();
  consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
    heardAt = -Infinity;
    latest = null;
    if (restart || stopping.signal.aborted) return;
    log.error({ err: error, groupId }, 'the consumer gave up: starting it again');
    started = sleep(GAVE_UP_MS, undefined, { signal: stopping.signal }).then(start, () => {});
  });
  const leave = async () => {
    await started;
    await commits.stop();
    await consumer.disconnect();
    await parking.close();
  };
  return {
    ready: async () => {
      if (performance.now() - heardAt > SESSION_MS) throw new Error(`${groupId} is not in its group`);
    },
    stop: async () => {
      stopping.abort();
      await withTimeout(LEAVES_WITHIN_MS, leave()).catch((error: unknown) =>
        log.warn({ err: error, groupId }, 'could not leave the group'),
      );
    },
  };
};

const handleBatch = async <T>(
  payload: EachBatchPayload,
  options: ConsumeOptions<T>,
  { parking, commits, signal }: { parking: DeadLetterProducer; commits: OffsetCommitter; signal: AbortSignal },
): Promise<void> => {
  const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
  const topic = options.topics.find(({ name }) => name === batch.topic);
  if (!topic) return;
  for (let start = 0; start < batch.messages.length; start += CHUNK) {
    if (!isRunning() || isStale() || signal.aborted) return;
    const records = batch.messages.slice(start, start + CHUNK);
    const park = (record: KafkaMessage, reason: string) =>
      parking.park(batch.topic, batch.partition, record, reason, options.log);
    await handleRecords(records, topic, { ...options, signal, heartbeat, park });
    resolveOffset(records.at(-1)!.offset);
    commits.schedule(payload);
    // Its consumer stops: nobody comes back for it.
    if (signal.aborted) await commits.flush();
    await heartbeat();
  }
};

interface Handling {
  readonly signal: AbortSignal;
  readonly heartbeat: () => Promise<void>;
  readonly park: (record: KafkaMessage, reason: string) => Promise<void>;
}

const handleRecords = async <T>(
  records: KafkaMessage[],
  topic: ConsumedTopic<T>,
  options: ConsumeOptions<T> & Handling,
): Promise<void> => {
  const readable: { record: KafkaMessage; message: T }[] = [];
  for (const record of records) {
    if (isRedrivenForAnotherGroup(record, options.groupId)) continue;
    const decoded = decode(topic, record.value);
    if (decoded === 'passed over') continue;
    if (decoded.ok) readable.push({ record, message: decoded.message });
    else await options.park(record, decoded.reason);
  }
  if (readable.length === 0) return;
  try {
    await attempt(
      () => options.handle(readable.map(({ message }) => message)),
      options,
      readable.length === 1 ? ATTEMPTS : 1,
    );
  } catch (error) {
    options.signal.throwIfAborted();
    if (readable.length === 1) return options.park(readable[0]!.record, reasonOf(error));
    // One of them fails: find it, so that it alone is set aside.
    for (const { record } of readable) await handleRecords([record], topic, options);
  }
};

const attempt = async <T>(
  work: () => Promise<void>,
  { isTransientError, heartbeat, signal, log }: ConsumeOptions<T> & Handling,
  attempts: number,
): Promise<void> => {
  let failures = 0;
  await withHeartbeats(heartbeat, () =>
    retry(work, {
      signal,
      onError: (error) => {
        if (isTransientError(error) || isAppError(error, 'dependency_unavailable')) return;
        failures += 1;
        log.warn({ err: error, failures }, 'a message could not be processed');
        if (failures >= attempts) throw error;
      },
    }),
  );
};

const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
