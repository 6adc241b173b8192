import type { ClientBase } from 'pg';
import type { Catalogue } from './catalogue.ts';
import { PendingCommit } from './pending-commit.ts';
import type { TailCache } from './tail-cache.ts';

export interface WriteSession {
  readonly catalogue: Catalogue;
  readonly cache: TailCache;
  /** A UUID of this process. */
  readonly processId: string;
}

/** Loads the stored state at the start of a database session. Without a clean stop before, acknowledged records of open
 *  transactions may be lost: these transactions are aborted, and their producers fenced. */
export const startSession = async (db: ClientBase, { catalogue, cache, processId }: WriteSession): Promise<void> => {
  const { rows } = await db.query<{ writer: string | null }>('select writer from kafka.format');
  const { writer } = rows[0]!;
  await catalogue.load(db, { keepEnds: writer === processId });
  if (writer !== null) await abortOpenTransactions(db, catalogue, cache);
  if (writer !== processId) await db.query('update kafka.format set writer = $1', [processId]);
};

/** Records a clean stop: nothing is lost, and the logs end where they end now. All rows must be stored. */
export const recordCleanStop = async (db: ClientBase, catalogue: Catalogue): Promise<void> => {
  const partitions = catalogue.allPartitions().filter(({ reservedUntil }) => reservedUntil > 0);
  await db.query(CLEAN_STOP, [
    partitions.map(({ topic }) => topic.id),
    partitions.map(({ index }) => index),
    partitions.map(({ logEnd }) => logEnd),
  ]);
};

const abortOpenTransactions = async (db: ClientBase, catalogue: Catalogue, cache: TailCache): Promise<void> => {
  const commit = new PendingCommit(catalogue);
  for (const transaction of catalogue.transactions.values()) {
    if (transaction.state === 'ongoing') commit.finishTransaction(transaction, false, transaction.epoch + 1);
  }
  const statement = commit.statement();
  if (statement) await db.query(statement);
  commit.applyToMemory(cache);
};

const CLEAN_STOP = `
  with ended as (
    update kafka.log_reservation r set reserved_until = e.log_end
    from unnest($1::int[], $2::int[], $3::bigint[]) as e(topic_id, partition, log_end)
    where r.topic_id = e.topic_id and r.partition = e.partition
  )
  update kafka.format set writer = null`;
