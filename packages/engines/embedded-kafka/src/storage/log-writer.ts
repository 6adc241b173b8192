import { KafkaError, StorageUnavailable, errorCode } from '../errors.ts';
import type { Batch } from '../records/batch.ts';
import type { Catalogue } from './catalogue.ts';
import { GroupCommit } from './group-commit.ts';
import type { Partition } from './partition.ts';
import { PendingCommit } from './pending-commit.ts';
import type { StorageWriter } from './storage-writer.ts';
import type { TailCache } from './tail-cache.ts';

const MAX_COMMIT_BYTES = 16 * 1024 * 1024;

interface Change {
  readonly bytes: number;
  readonly apply: (commit: PendingCommit) => unknown;
}

/** Writes to the logs. Concurrent changes share a commit. */
export class LogWriter {
  private readonly writer: StorageWriter;
  private readonly catalogue: Catalogue;
  private readonly cache: TailCache;
  private readonly changes: GroupCommit<Change, unknown>;

  constructor(writer: StorageWriter, catalogue: Catalogue, cache: TailCache) {
    this.writer = writer;
    this.catalogue = catalogue;
    this.cache = cache;
    this.changes = new GroupCommit(
      (changes) => this.commit(changes),
      ({ bytes }) => bytes,
      MAX_COMMIT_BYTES,
    );
  }

  /** Resolves to the base offset of the batch once it is committed. For a duplicate of an idempotent producer, resolves
   *  to the offset of the stored batch. Batches of one partition are stored in the order of the calls. Throws
   *  KafkaError, or StorageUnavailable when the batch may not be stored. */
  append = (partition: Partition, batch: Batch, transactionalId: string | null): Promise<number> =>
    this.commitChange((commit) => commit.append(partition, batch, transactionalId), batch.bytes.length);

  /** Resolves to the result of `apply` once everything that it changed is committed.
   *  Throws what `apply` throws; it must not have changed anything then. */
  commitChange<T>(apply: (commit: PendingCommit) => T, bytes = 0): Promise<T> {
    return this.changes.submit({ bytes, apply }) as Promise<T>;
  }

  /** Moves the start of the log forward to `offset` and returns the start. It stays where it is if it is further
   *  already. The next cleanup deletes the rows before it. Throws KafkaError(offsetOutOfRange) for an offset beyond the
   *  end. */
  moveLogStart(partition: Partition, offset: number): Promise<number> {
    return this.writer.run(async (db) => {
      this.catalogue.requireCurrent(partition);
      if (offset < 0 || offset > partition.logEnd)
        throw new KafkaError(errorCode.offsetOutOfRange, `offset ${offset} is not in the log`);
      if (offset <= partition.logStart) return partition.logStart;
      await db.query(MOVE_LOG_START, [partition.topic.id, partition.index, offset]);
      partition.logStart = offset;
      return offset;
    });
  }

  /** Refuses the waiting changes: the partitions that they were made for are loaded again. */
  onSessionLost(): void {
    this.changes.refuseWaiting();
    this.cache.clear();
  }

  private commit(changes: Change[]): Promise<unknown[]> {
    return this.writer.run(async (db) => {
      const commit = new PendingCommit(this.catalogue);
      const results = changes.map(({ apply }) => resultOrRefusal(() => apply(commit)));
      const statement = commit.statement();
      if (statement) await db.query(statement);
      commit.applyToMemory(this.cache);
      return results;
    });
  }
}

/** Returns a refusal as a value, because it must not fail the other changes of the commit. */
const resultOrRefusal = (apply: () => unknown): unknown => {
  try {
    return apply();
  } catch (error) {
    if (error instanceof KafkaError || error instanceof StorageUnavailable) return error;
    throw error;
  }
};

const MOVE_LOG_START = `
  insert into kafka.log_start (topic_id, partition, log_start) values ($1, $2, $3)
  on conflict (topic_id, partition) do update set log_start = excluded.log_start`;
