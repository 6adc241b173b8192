import { setTimeout as sleep } from 'node:timers/promises';
import { counterMetric } from '../metrics.ts';
import { retry, untilBack, withTimeout } from '../outages/retry.ts';
import type { EachBatchPayload } from 'kafkajs';
import { type ConsumeOptions, handleBatch, HEARTBEAT_INTERVAL_MS } from './batch-handler.ts';
import { createDeadLetterProducer, type DeadLetterProducer } from './dead-letter-producer.ts';
import { createOffsetCommitter, type OffsetCommitter } from './offset-committer.ts';

export interface RunningConsumer {
  /** Readiness check. Rejects before the group is joined, and when there was no heartbeat for the session timeout. */
  readonly ready: () => Promise<void>;
  /** Finishes the current messages, commits offsets and leaves the group, within 6 s.
   *  While Kafka is unavailable it skips the commit: the uncommitted messages are consumed again. The client then keeps
   *  trying to leave the group for a while; another call waits for that. */
  readonly stop: () => Promise<void>;
}

// The shortest session timeout that brokers allow by default. Partitions of a crashed member stay unassigned for this
// time.
const SESSION_TIMEOUT_MS = 6_000;
const LOW_LATENCY_FETCH = { maxWaitTimeInMs: 1_000 };
const HIGH_THROUGHPUT_FETCH = { minBytes: 256 * 1_024, maxWaitTimeInMs: 500 };
const RETRY = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 20 };
const RESTART_DELAY_MS = 2_000;
// A service has 10 s to stop. kafkajs alone would retry for longer while Kafka is unavailable.
const STOP_TIMEOUT_MS = 6_000;

/** Consumes topics as a member of a consumer group. A new group starts at the oldest message.
 *  Connects in the background and reconnects after every failure. */
export const consume = <T>(options: ConsumeOptions<T>): RunningConsumer => {
  const { kafka, groupId, log } = options;
  const stopping = new AbortController();
  const countDeadLetter = counterMetric(options.metrics, {
    name: 'dead_letters_total',
    help: 'Messages that could not be processed, and went to their dead-letter topic',
    labelNames: ['topic'],
    known: options.topics.map(({ name: topic }) => ({ topic })),
  });
  const deadLetters = createDeadLetterProducer(kafka, groupId, (topic) => countDeadLetter({ topic }));
  const offsets = createOffsetCommitter({ log });
  const consumer = openConsumer(options, { deadLetters, offsets, signal: stopping.signal });

  let leaving: Promise<void> | undefined;
  const leaveGroup = async () => {
    await offsets.stop();
    await consumer.close();
    await deadLetters.close();
  };
  return {
    ready: async () => {
      if (performance.now() - consumer.lastHeartbeatAt() > SESSION_TIMEOUT_MS)
        throw new Error(`the consumer is not a member of its group ${groupId}`);
    },
    stop: async () => {
      stopping.abort();
      leaving ??= leaveGroup();
      await withTimeout(STOP_TIMEOUT_MS, leaving).catch((error: unknown) =>
        log.warn({ err: error, groupId }, 'could not leave the consumer group'),
      );
    },
  };
};

interface OpenConsumerParts {
  readonly deadLetters: DeadLetterProducer;
  readonly offsets: OffsetCommitter;
  readonly signal: AbortSignal;
}

/** One consumer of kafkajs, which starts at the committed offsets. */
const openConsumer = <T>(options: ConsumeOptions<T>, { deadLetters, offsets, signal }: OpenConsumerParts) => {
  const { kafka, groupId, topics, preferThroughput = false, concurrency = 4, log } = options;
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_INTERVAL_MS,
    rebalanceTimeout: 10_000,
    ...(preferThroughput ? HIGH_THROUGHPUT_FETCH : LOW_LATENCY_FETCH),
    // The relay uses transactions only to fence its predecessors. Its messages are facts that an abort does not revoke.
    readUncommitted: true,
    retry: { ...RETRY, restartOnFailure: async () => !signal.aborted },
  });
  let lastBatch: EachBatchPayload | null = null;
  let lastHeartbeatAt = -Infinity;
  const recordHeartbeat = () => {
    lastHeartbeatAt = performance.now();
  };

  const connectAndRun = async () => {
    await consumer.connect();
    await consumer.subscribe({ topics: topics.map(({ name }) => name), fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: concurrency,
      eachBatch: async (payload) => {
        lastBatch = payload;
        await handleBatch(payload, options, { deadLetters, offsets, signal });
      },
    });
  };
  const start = () =>
    retry(connectAndRun, {
      signal,
      ...untilBack(options.wait),
      onError: (error) => log.warn({ err: error, groupId }, 'cannot connect the consumer, retrying'),
    }).catch(() => {});

  consumer.on('consumer.group_join', () => {
    recordHeartbeat();
    offsets.reset();
  });
  consumer.on('consumer.heartbeat', recordHeartbeat);
  // A batch that holds only a transaction marker does not reach `eachBatch`. Without this commit the group would seem
  // to lag.
  consumer.on('consumer.end_batch_process', ({ payload: { batchSize } }) => {
    if (batchSize === 0 && lastBatch) offsets.schedule(lastBatch);
  });
  let started = start();
  // kafkajs restarts only after errors that it considers retriable. This restarts the consumer after all others.
  consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
    lastHeartbeatAt = -Infinity;
    lastBatch = null;
    if (signal.aborted) return;
    log.error({ err: error, groupId }, 'the consumer crashed, restarting it');
    if (restart) return;
    started = sleep(RESTART_DELAY_MS, undefined, { signal }).then(start, () => {});
  });

  return {
    /** As `performance.now()`. */
    lastHeartbeatAt: () => lastHeartbeatAt,
    /** Finishes the current messages and leaves the group. */
    close: async (): Promise<void> => {
      await started;
      await consumer.disconnect();
    },
  };
};
