import { isTemporary } from '@cpg/contracts';
import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { z } from 'zod';
import type { Logger } from '../log/logger.ts';
import type { MetricsRegistry } from '../metrics.ts';
import { retry, untilBack, type Wait } from '../outages/retry.ts';
import { type DeadLetterProducer, isRedrivenForAnotherGroup } from './dead-letter-producer.ts';
import type { OffsetCommitter } from './offset-committer.ts';

export interface ConsumedTopic<T> {
  readonly name: string;
  readonly message: z.ZodType<T>;
  /** Message types to handle. Other types are skipped without being validated. Default: all types. */
  readonly types?: readonly string[];
}

export interface ConsumeOptions<T> {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topics: ReadonlyArray<ConsumedTopic<T>>;
  /** Handles messages of one partition, oldest first. Must be idempotent, because offsets are committed after it
   *  resolves. After a throw it is retried. A message that fails 5 times on its own is sent to the dead-letter
   *  topic. */
  readonly handle: (messages: T[]) => Promise<void>;
  /** Whether an error means that a dependency is unavailable. Messages are then retried without limit. */
  readonly isTransientError: (error: unknown) => boolean;
  /** Fetches larger batches with up to 500 ms more latency, which costs less per message. */
  readonly preferThroughput?: boolean;
  /** For how many partitions `handle` may run at a time. Default: 4. */
  readonly concurrency?: number;
  /** Waits between attempts while a dependency is unavailable. */
  readonly wait?: Wait | undefined;
  /** Counts dead letters. */
  readonly metrics?: MetricsRegistry;
  readonly log: Logger;
}

interface ConsumerParts {
  readonly deadLetters: DeadLetterProducer;
  readonly offsets: OffsetCommitter;
  readonly signal: AbortSignal;
}

const MAX_ATTEMPTS = 5;
const CHUNK_SIZE = 200;

/** Handles a fetched batch in chunks, and resolves the offset of each chunk. Throws when `signal` aborts. */
export const handleBatch = async <T>(
  payload: EachBatchPayload,
  options: ConsumeOptions<T>,
  { deadLetters, offsets, signal }: ConsumerParts,
): Promise<void> => {
  const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
  const topic = options.topics.find(({ name }) => name === batch.topic);
  if (!topic) return;
  for (let start = 0; start < batch.messages.length; start += CHUNK_SIZE) {
    if (!isRunning() || isStale() || signal.aborted) return;
    const records = batch.messages.slice(start, start + CHUNK_SIZE);
    const sendToDeadLetters = (record: KafkaMessage, reason: string) =>
      deadLetters.send(batch.topic, batch.partition, record, reason, options.log);
    await handleRecords(records, topic, { ...options, signal, heartbeat, sendToDeadLetters });
    resolveOffset(records.at(-1)!.offset);
    offsets.schedule(payload);
    // The scheduled commit would come too late while the consumer stops.
    if (signal.aborted) await offsets.flush();
    await heartbeat();
  }
};

interface RecordHandling<T> extends ConsumeOptions<T> {
  readonly signal: AbortSignal;
  readonly heartbeat: () => Promise<void>;
  readonly sendToDeadLetters: (record: KafkaMessage, reason: string) => Promise<void>;
}

/** Handles records together first. If that fails, handles each one alone, so that only the failing ones become dead
 *  letters. */
const handleRecords = async <T>(
  records: KafkaMessage[],
  topic: ConsumedTopic<T>,
  options: RecordHandling<T>,
): Promise<void> => {
  const decoded = await decodeRecords(records, topic, options);
  if (decoded.length === 0) return;
  const isSingle = decoded.length === 1;
  try {
    await handleWithRetries(
      () => options.handle(decoded.map(({ message }) => message)),
      options,
      isSingle ? MAX_ATTEMPTS : 1,
    );
  } catch (error) {
    options.signal.throwIfAborted();
    if (isSingle) return options.sendToDeadLetters(decoded[0]!.record, reasonOf(error));
    for (const { record } of decoded) await handleRecords([record], topic, options);
  }
};

/** The messages to handle. Invalid records go to the dead-letter topic. */
const decodeRecords = async <T>(
  records: KafkaMessage[],
  topic: ConsumedTopic<T>,
  { groupId, sendToDeadLetters }: RecordHandling<T>,
): Promise<{ record: KafkaMessage; message: T }[]> => {
  const messages: { record: KafkaMessage; message: T }[] = [];
  for (const record of records) {
    if (isRedrivenForAnotherGroup(record, groupId)) continue;
    const decoded = decode(topic, record.value);
    if (decoded === 'skipped') continue;
    if (decoded.ok) messages.push({ record, message: decoded.message });
    else await sendToDeadLetters(record, decoded.reason);
  }
  return messages;
};

/** Retries `work` with backoff. Throws after `maxAttempts` failures; transient errors do not count. */
const handleWithRetries = async <T>(
  work: () => Promise<void>,
  { isTransientError, heartbeat, signal, wait, log }: RecordHandling<T>,
  maxAttempts: number,
): Promise<void> => {
  let failures = 0;
  let isDelayed = false;
  await withHeartbeats(heartbeat, () =>
    retry(work, {
      signal,
      ...untilBack(wait),
      onError: (error) => {
        if (isTransientError(error) || isTemporary(error)) {
          if (!isDelayed) log.warn({ err: error }, 'could not process a message yet, retrying');
          isDelayed = true;
          return;
        }
        failures += 1;
        log.warn({ err: error, failures }, 'could not process a message');
        if (failures >= maxAttempts) throw error;
      },
    }),
  );
};

const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

export type Decoded<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly reason: string };

interface DecodeOptions<T> {
  readonly message: z.ZodType<T>;
  readonly types?: readonly string[];
}

/** Parses and validates the value of a record. Returns the reason when it is invalid, or 'skipped' when `types` does
 *  not contain its type. */
export const decode = <T>({ message, types }: DecodeOptions<T>, value: Buffer | null): Decoded<T> | 'skipped' => {
  if (value === null) return { ok: false, reason: 'the record has no value' };
  try {
    const json: unknown = JSON.parse(value.toString('utf8'));
    if (types && hasType(json) && !types.includes(json.type)) return 'skipped';
    const parsed = message.safeParse(json);
    return parsed.success ? { ok: true, message: parsed.data } : { ok: false, reason: z.prettifyError(parsed.error) };
  } catch (error) {
    return { ok: false, reason: `not JSON: ${(error as Error).message}` };
  }
};

const hasType = (json: unknown): json is { type: string } =>
  typeof json === 'object' && json !== null && typeof (json as { type?: unknown }).type === 'string';

export const HEARTBEAT_INTERVAL_MS = 1_500;

/** Sends heartbeats while `work` runs, so that slow work does not cost the consumer its group membership. */
export const withHeartbeats = async <T>(heartbeat: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
  const timer = setInterval(() => void heartbeat().catch(() => {}), HEARTBEAT_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
};
