import { randomUUID } from 'node:crypto';
import { wallClockMs } from '@cpg/core';
import type { ClientBase } from 'pg';
import { KafkaError, StorageUnavailable, errorCode } from '../errors.ts';
import type { Batch } from '../records/batch.ts';
import type { Catalogue } from './catalogue.ts';
import { GroupCommit } from './group-commit.ts';
import type { Partition } from './partition.ts';
import { PendingCommit } from './pending-commit.ts';
import { isReservationLow } from './pending-log.ts';
import type { StorageWriter } from './storage-writer.ts';
import { type TailCache, memoryBytesOf } from './tail-cache.ts';
import { type ProducerIdentity, type TransactionPartition, withPartitions } from './transaction.ts';
import { WriteBehind } from './write-behind.ts';
import { recordCleanStop, startSession } from './write-session.ts';

const MAX_COMMIT_BYTES = 16 * 1024 * 1024;

interface Change {
  readonly bytes: number;
  readonly apply: (commit: PendingCommit) => unknown;
}

/** Writes to the logs. Concurrent changes share a commit. Records of an open transaction are visible before their commit;
 *  every other change is committed first, together with the records that were visible before it. */
export class LogWriter {
  private readonly writer: StorageWriter;
  private readonly catalogue: Catalogue;
  private readonly cache: TailCache;
  private readonly changes: GroupCommit<Change, unknown>;
  private readonly unwritten: WriteBehind;
  private readonly processId = randomUUID();
  private closed = false;

  constructor(writer: StorageWriter, catalogue: Catalogue, cache: TailCache) {
    this.writer = writer;
    this.catalogue = catalogue;
    this.cache = cache;
    this.changes = new GroupCommit(
      (changes) => this.commit(changes),
      ({ bytes }) => bytes,
      MAX_COMMIT_BYTES,
    );
    const onDue = () => void this.flush().catch(() => {}); // the session is lost, and with it the transactions
    this.unwritten = new WriteBehind(onDue, cache.maxBytes);
  }

  /** Loads the state of the logs and transactions at the start of a database session. */
  load = (db: ClientBase): Promise<void> => {
    const { catalogue, cache, processId } = this;
    return startSession(db, { catalogue, cache, processId });
  };

  /** Resolves to the base offset of the batch once it is committed, or, in an open transaction, once it is visible: only
   *  the end of the transaction is durable. For a duplicate of an idempotent producer, resolves to the offset of the
   *  earlier batch. Batches of one partition are stored in the order of the calls. Throws KafkaError, or
   *  StorageUnavailable when the batch may not be stored. */
  append = async (partition: Partition, batch: Batch, transactionalId: string | null): Promise<number> => {
    if (this.mayAppendUnwritten(partition, batch)) return this.appendUnwritten(partition, batch, transactionalId);
    return this.commitChange((commit) => {
      const baseOffset = commit.append(partition, batch, transactionalId);
      if (batch.transactional) commit.reserveOffsets([partition]);
      return baseOffset;
    }, batch.bytes.length);
  };

  /** Adds partitions to the transaction of `producer`. Throws KafkaError.
   *  If none is ongoing, begins one, and resolves once that is committed.
   *  Partitions that are added later are stored before or with their first records. */
  addPartitions = async (producer: ProducerIdentity, partitions: readonly TransactionPartition[]): Promise<void> => {
    const logs = partitions.flatMap(({ topic, index }) => this.catalogue.partition(topic, index) ?? []);
    const add = (commit: PendingCommit) => {
      const current = commit.requireTransaction(producer);
      commit.saveTransaction(withPartitions(current, partitions, wallClockMs()));
      commit.reserveOffsets(logs);
    };
    const isOngoing = this.catalogue.transactions.get(producer.transactionalId)?.state === 'ongoing';
    if (isOngoing && this.mayWriteBehind() && !logs.some(isReservationLow)) this.applyUnwritten(add);
    else await this.commitChange(add);
  };

  /** Stores the rows of the records that are visible now. */
  async flush(): Promise<void> {
    if (!this.unwritten.isEmpty) await this.writer.run(async () => {});
  }

  /** Stores the rows of the visible records in `db`, the current session. */
  storeUnwritten = async (db: ClientBase): Promise<void> => {
    const statement = this.unwritten.take().build({ async: true });
    if (statement) await db.query(statement);
    this.unwritten.done();
  };

  /** Stores everything, and that nothing is lost. Throws StorageUnavailable. */
  close(): Promise<void> {
    this.closed = true;
    return this.writer.run((db) => recordCleanStop(db, this.catalogue));
  }

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
    this.unwritten.clear();
    this.changes.refuseWaiting();
    this.cache.clear();
  }

  private commit(changes: Change[]): Promise<unknown[]> {
    return this.writer.runWithUnwritten(async (db) => {
      const commit = new PendingCommit(this.catalogue, this.unwritten.take());
      const results = changes.map(({ apply }) => resultOrRefusal(() => apply(commit)));
      const statement = commit.statement();
      if (statement) await db.query(statement);
      this.unwritten.done();
      commit.applyToMemory(this.cache);
      return results;
    });
  }

  /** Whether a crash before the batch is stored would lose it only with its transaction, and its offset to no other
   *  record. */
  private mayAppendUnwritten(
    { logEnd, reservedUntil }: Partition,
    { transactional, lastOffsetDelta, bytes }: Batch,
  ): boolean {
    if (!transactional || !this.mayWriteBehind()) return false;
    return logEnd + lastOffsetDelta < reservedUntil && this.unwritten.hasRoom(memoryBytesOf(bytes));
  }

  private appendUnwritten(partition: Partition, batch: Batch, transactionalId: string | null): number {
    const { logEnd } = partition;
    const baseOffset = this.applyUnwritten((commit) => commit.append(partition, batch, transactionalId));
    if (partition.logEnd > logEnd) this.unwritten.added(memoryBytesOf(batch.bytes));
    return baseOffset;
  }

  /** Changes that wait or are being committed come first, because their results are not visible yet. */
  private mayWriteBehind(): boolean {
    return !this.closed && this.writer.isOpen && this.changes.isIdle;
  }

  /** Makes a change visible. Its rows wait for others. */
  private applyUnwritten<T>(apply: (commit: PendingCommit) => T): T {
    const commit = new PendingCommit(this.catalogue, this.unwritten.rows);
    const result = apply(commit);
    commit.addStates();
    commit.applyToMemory(this.cache);
    return result;
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
