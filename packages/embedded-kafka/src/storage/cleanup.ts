import { StorageUnavailable } from '../errors.ts';
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
  readonly settings: Settings;
  readonly catalogue: Catalogue;
  readonly logReader: LogReader;
  readonly logWriter: LogWriter;
  readonly writer: StorageWriter;
  readonly log: (line: string) => void;
}

/** Applies retention at intervals, and deletes rows that no reader can see any more. Returns a function that stops
 *  it. */
export const startCleanup = (options: CleanupOptions): (() => Promise<void>) => {
  const { catalogue, log, settings } = options;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    try {
      for (const partition of catalogue.allPartitions()) {
        if (stopped) return;
        await applyRetention(options, partition, Date.now());
        await deleteBatches(options, partition.topic.id, partition.index, partition.logStart);
      }
      if (!stopped) await deleteTopicRows(options);
      if (!stopped) await expireProducers(options);
      if (!stopped) await expireTransactions(options);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) log(`cleanup failed: ${(error as Error).message}`);
    }
  };
  const timer = setInterval(() => {
    running = running.then(run);
  }, settings.cleanupIntervalMs);
  return async () => {
    stopped = true;
    clearInterval(timer);
    await running;
  };
};

/** Moves the start of the log past the batches beyond the retention time or size. `now` is in ms since 1970. */
const applyRetention = async (options: CleanupOptions, partition: Partition, now: number): Promise<void> => {
  const { logReader, logWriter, settings } = options;
  const config = { ...settings.topicDefaults, ...partition.topic.config };
  const start = Math.max(
    config['retention.ms'] < 0 ? 0 : await logReader.startForRetentionTime(partition, now - config['retention.ms']),
    config['retention.bytes'] < 0 ? 0 : await logReader.startForRetentionBytes(partition, config['retention.bytes']),
  );
  if (start > partition.logStart) await logWriter.moveLogStart(partition, start);
};

/** Deletes the batches before `logStart`, in small steps, so that producers never wait long. */
const deleteBatches = async (
  { writer }: CleanupOptions,
  topicId: number,
  index: number,
  logStart: number,
): Promise<void> => {
  for (let deleted = MAX_ROWS_PER_DELETE; deleted === MAX_ROWS_PER_DELETE;) {
    const { rowCount } = await writer.run((db) =>
      db.query(DELETE_BATCHES, [topicId, index, logStart, MAX_ROWS_PER_DELETE]),
    );
    deleted = rowCount ?? 0;
  }
  await writer.run((db) => db.query(DELETE_ABORTED_TRANSACTIONS, [topicId, index, logStart]));
};

/** Deletes the rows of topics that were deleted. */
const deleteTopicRows = async (options: CleanupOptions): Promise<void> => {
  const { writer } = options;
  const { rows } = await writer.run((db) =>
    db.query<{ id: number; partitions: number }>('select id, partitions from kafka.topic where deleted'),
  );
  for (const { id, partitions } of rows) {
    for (let index = 0; index < partitions; index += 1)
      await deleteBatches(options, id, index, Number.MAX_SAFE_INTEGER);
    await writer.run((db) => db.query('delete from kafka.topic where id = $1', [id]));
  }
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
