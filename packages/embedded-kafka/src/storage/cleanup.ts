import type { Broker } from '../broker.ts';
import { StorageUnavailable } from '../errors.ts';
import type { Partition } from './catalogue.ts';

/** As the real broker: an idempotent producer that was silent for a day is forgotten. */
const PRODUCER_IDLE = '1 day';
/** As the real broker: a transactional id that was not used for a week is forgotten. */
const TRANSACTION_IDLE = '7 days';
const PAGE_ROWS = 500;

/** Applies the retention of every topic now and then, and sweeps up what no reader can see any more. */
export const startCleanup = (broker: Broker, log: (line: string) => void): (() => Promise<void>) => {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    try {
      for (const partition of broker.catalogue.allPartitions()) {
        if (stopped) return;
        await retain(broker, partition, Date.now());
        await sweep(broker, partition.topic.id, partition.index, partition.logStart);
      }
      if (!stopped) await sweepDeleted(broker);
      if (!stopped) await forgetProducers(broker);
      if (!stopped) await forgetTransactions(broker);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) log(`cleanup failed: ${(error as Error).message}`);
    }
  };
  const timer = setInterval(() => {
    running = running.then(run);
  }, broker.settings.cleanupIntervalMs);
  return async () => {
    stopped = true;
    clearInterval(timer);
    await running;
  };
};

/** Moves the log's start over batches that are too old or too many. `now` in ms. */
const retain = async ({ log, settings }: Broker, partition: Partition, now: number): Promise<void> => {
  const config = { ...settings.topicDefaults, ...partition.topic.config };
  const start = Math.max(
    config['retention.ms'] < 0 ? 0 : await log.startForRetentionTime(partition, now - config['retention.ms']),
    config['retention.bytes'] < 0 ? 0 : await log.startForRetentionBytes(partition, config['retention.bytes']),
  );
  if (start > partition.logStart) await log.moveLogStart(partition, start);
};

/** Deletes batches before `logStart`, some at a time, so that nobody who writes waits for long. */
const sweep = async ({ writer }: Broker, topicId: number, index: number, logStart: number): Promise<void> => {
  for (let deleted = PAGE_ROWS; deleted === PAGE_ROWS;) {
    const { rowCount } = await writer.run((db) => db.query(SWEEP, [topicId, index, logStart, PAGE_ROWS]));
    deleted = rowCount ?? 0;
  }
  await writer.run((db) => db.query(SWEEP_ABORTED, [topicId, index, logStart]));
};

const sweepDeleted = async (broker: Broker): Promise<void> => {
  const { rows } = await broker.writer.run((db) =>
    db.query<{ id: number; partitions: number }>('select id, partitions from kafka.topic where deleted'),
  );
  for (const { id, partitions } of rows) {
    for (let index = 0; index < partitions; index += 1) await sweep(broker, id, index, Number.MAX_SAFE_INTEGER);
    await broker.writer.run((db) => db.query('delete from kafka.topic where id = $1', [id]));
  }
};

const forgetProducers = ({ catalogue, writer }: Broker): Promise<void> =>
  writer.run(async (db) => {
    const { rows } = await db.query<{ name: string; partition: number; producer_id: number }>(
      `delete from kafka.producer p using kafka.topic t where t.id = p.topic_id and open_since is null
         and used_at < now() - interval '${PRODUCER_IDLE}'
       returning t.name, partition, producer_id::float8 as producer_id`,
    );
    for (const row of rows) catalogue.partition(row.name, row.partition)?.producers.delete(row.producer_id);
  });

const forgetTransactions = ({ catalogue, writer }: Broker): Promise<void> =>
  writer.run(async (db) => {
    const { rows } = await db.query<{ id: string }>(
      `delete from kafka.transaction where state <> 'ongoing' and used_at < now() - interval '${TRANSACTION_IDLE}' returning id`,
    );
    for (const { id } of rows) catalogue.transactions.delete(id);
  });

const SWEEP_ABORTED = `delete from kafka.aborted_transaction where topic_id = $1 and partition = $2 and last_offset < $3`;

const SWEEP = `
  delete from kafka.batch where topic_id = $1 and partition = $2 and last_offset in (
    select last_offset from kafka.batch
    where topic_id = $1 and partition = $2 and last_offset < $3 order by last_offset limit $4)`;
