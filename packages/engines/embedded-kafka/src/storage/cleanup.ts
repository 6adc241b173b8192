import { wallClockMs } from '@cpg/platform';
import pg from 'pg';
import { KafkaError, StorageUnavailable } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { Catalogue } from './catalogue.ts';
import type { LogReader } from './log-reader.ts';
import type { LogWriter } from './log-writer.ts';
import type { Partition } from './partition.ts';
import type { StorageWriter } from './storage-writer.ts';

/** How long an idle idempotent producer is kept. Source: Apache Kafka, `producer.id.expiration.ms`. */
const PRODUCER_IDLE = '1 day';
/** How long an unused transactional id is kept. Source: Apache Kafka, `transactional.id.expiration.ms`. */
const TRANSACTION_IDLE = '7 days';
const MAX_ROWS_PER_DELETE = 500;

export interface CleanupOptions {
  readonly databaseUrl: string;
  readonly settings: Settings;
  readonly catalogue: Catalogue;
  readonly logReader: LogReader;
  readonly logWriter: LogWriter;
  readonly writer: StorageWriter;
  readonly log: (line: string) => void;
}

export interface Cleanup {
  /** Asks for a run within `cleanupDelayMs`. */
  readonly request: () => void;
  readonly stop: () => Promise<void>;
}

/** Applies retention repeatedly, with a pause of `cleanupIntervalMs` after each run. Also deletes the rows that no
 *  reader can see any more and frees their space: in each run, and soon after the start or a request. */
export const startCleanup = (options: CleanupOptions): Cleanup => {
  const { log, settings } = options;
  const stopped = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let next: NodeJS.Timeout | undefined;
  let reported = '';
  const run = (work: () => Promise<void>): Promise<void> => {
    running = running.then(work).catch((error: unknown) => {
      if (stopped.signal.aborted) return;
      const fault = error instanceof StorageUnavailable ? error.cause : error;
      // The writer reports outages. A refused statement is no outage: the next run may fail by it too.
      if (error instanceof StorageUnavailable && !isRefusedStatement(fault)) return;
      const { message } = fault as Error;
      if (message !== reported) log(`cleanup failed: ${message}`);
      reported = message;
    });
    return running;
  };
  const now = retentionClock(wallClockMs, () => performance.now());
  const applyLater = () => {
    if (stopped.signal.aborted) return;
    const apply = () =>
      run(async () => {
        await applyRetention(options, now(), stopped.signal);
        reported = '';
      });
    timer = setTimeout(() => void apply().then(applyLater), settings.cleanupIntervalMs);
  };
  applyLater();
  const request = () => {
    next ??= setTimeout(
      () =>
        void run(() => {
          next = undefined;
          return deleteRows(options, stopped.signal);
        }),
      settings.cleanupDelayMs,
    );
  };
  request();
  return {
    request,
    stop: async () => {
      stopped.abort();
      clearTimeout(timer);
      clearTimeout(next);
      await running;
    },
  };
};

const isRefusedStatement = (error: unknown): boolean => error instanceof pg.DatabaseError && error.severity === 'ERROR';

/** The time by which batches are too old, in whole ms: the wall clock, unless it was set ahead since the start. What a
 *  wrong clock deletes does not come back. */
export const retentionClock = (wallMs: () => number, monotonicMs: () => number): (() => number) => {
  const [startedAt, startedMs] = [wallMs(), monotonicMs()];
  return () => Math.floor(Math.min(wallMs(), startedAt + monotonicMs() - startedMs));
};

const applyRetention = async (options: CleanupOptions, now: number, stopped: AbortSignal): Promise<void> => {
  for (const partition of options.catalogue.allPartitions()) {
    if (stopped.aborted) return;
    await moveLogStart(options, partition, now);
  }
  await deleteRows(options, stopped);
};

const deleteRows = async (options: CleanupOptions, stopped: AbortSignal): Promise<void> => {
  const { catalogue, databaseUrl } = options;
  let deleted = 0;
  for (const partition of catalogue.allPartitions()) {
    if (stopped.aborted) return;
    deleted += await deleteRecords(options, partition);
  }
  if (!stopped.aborted) deleted += await deleteTopicRows(options);
  if (!stopped.aborted) await expireProducers(options);
  if (!stopped.aborted) await expireTransactions(options);
  if (deleted > 0) await vacuumBatches(databaseUrl, stopped);
};

/** Moves the start of the log past the batches beyond the retention time or size. `now` is in ms since 1970. */
const moveLogStart = async (options: CleanupOptions, partition: Partition, now: number): Promise<void> => {
  const { logReader, logWriter, settings } = options;
  const config = { ...settings.topicDefaults, ...partition.topic.config };
  const start = Math.max(
    config['retention.ms'] < 0 ? 0 : await logReader.startForRetentionTime(partition, now - config['retention.ms']),
    config['retention.bytes'] < 0 ? 0 : await logReader.startForRetentionBytes(partition, config['retention.bytes']),
  );
  if (start <= partition.logStart) return;
  await logWriter.moveLogStart(partition, start).catch((error: unknown) => {
    if (!(error instanceof KafkaError)) throw error; // the topic was deleted meanwhile
  });
};

/** Deletes the batches before the start of the log, unless an earlier run did. Returns their number. */
const deleteRecords = async (options: CleanupOptions, partition: Partition): Promise<number> => {
  const { logStart, deletedTo } = partition;
  if (logStart <= deletedTo) return 0;
  const deleted = await deleteBatches(options, partition.topic.id, partition.index, logStart);
  partition.deletedTo = logStart;
  return deleted;
};

/** Deletes the batches before `logStart`, in small steps, so that producers never wait long. */
const deleteBatches = async (
  { writer }: CleanupOptions,
  topicId: number,
  index: number,
  logStart: number,
): Promise<number> => {
  let total = 0;
  for (let deleted = MAX_ROWS_PER_DELETE; deleted === MAX_ROWS_PER_DELETE; total += deleted) {
    const { rowCount } = await writer.run((db) =>
      db.query(DELETE_BATCHES, [topicId, index, logStart, MAX_ROWS_PER_DELETE]),
    );
    deleted = rowCount ?? 0;
  }
  await writer.run((db) => db.query(DELETE_ABORTED_TRANSACTIONS, [topicId, index, logStart]));
  return total;
};

/** Deletes the rows of topics that were deleted. Returns the number of batches. */
const deleteTopicRows = async (options: CleanupOptions): Promise<number> => {
  const { writer } = options;
  let deleted = 0;
  const { rows } = await writer.run((db) =>
    db.query<{ id: number; partitions: number }>('select id, partitions from kafka.topic where deleted'),
  );
  for (const { id, partitions } of rows) {
    for (let index = 0; index < partitions; index += 1)
      deleted += await deleteBatches(options, id, index, Number.MAX_SAFE_INTEGER);
    await writer.run((db) => db.query('delete from kafka.topic where id = $1', [id]));
  }
  return deleted;
};

const expireProducers = ({ catalogue, writer }: CleanupOptions): Promise<void> =>
  writer.run(async (db) => {
    const { rows } = await db.query<{ name: string; partition: number; producer_id: number }>(
      `delete from kafka.producer p using kafka.topic t where t.id = p.topic_id and open_since is null
         and used_at < now() - interval '${PRODUCER_IDLE}'
       returning t.name, partition, producer_id::float8 as producer_id`,
    );
    for (const row of rows) catalogue.partition(row.name, row.partition)?.producers.delete(row.producer_id);
  });

const expireTransactions = ({ catalogue, writer }: CleanupOptions): Promise<void> =>
  writer.run(async (db) => {
    const { rows } = await db.query<{ id: string }>(
      `delete from kafka.transaction where state <> 'ongoing' and used_at < now() - interval '${TRANSACTION_IDLE}' returning id`,
    );
    for (const { id } of rows) catalogue.transactions.delete(id);
  });

const DELETE_ABORTED_TRANSACTIONS = `delete from kafka.aborted_transaction where topic_id = $1 and partition = $2 and last_offset < $3`;

const DELETE_BATCHES = `
  delete from kafka.batch where topic_id = $1 and partition = $2 and last_offset in (
    select last_offset from kafka.batch
    where topic_id = $1 and partition = $2 and last_offset < $3 order by last_offset limit $4)`;

const CONNECT_TIMEOUT_MS = 5_000;

/** Frees the space of deleted batches on the disk: PostgreSQL reuses it, or cuts it off at the end of the file.
 *  Throws when PostgreSQL is unavailable or `signal` aborts. */
export const vacuumBatches = async (databaseUrl: string, signal: AbortSignal): Promise<void> => {
  // Not a session of the writer: VACUUM takes long on a large table, and nothing may wait for it.
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'embedded-kafka vacuum',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {}); // the query fails too
  const end = () => void client.end().catch(() => {});
  try {
    // Not earlier: a connect() that is ended meanwhile never settles.
    await client.connect();
    signal.addEventListener('abort', end);
    signal.throwIfAborted();
    await client.query('vacuum kafka.batch');
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
};
