import type { Pool } from 'pg';
import { KafkaError, StorageUnavailable, errorCode } from '../errors.ts';
import { type Batch, baseOffsetOf } from '../records/batch.ts';
import type { Catalogue, Partition } from './catalogue.ts';
import { GroupCommit } from './group-commit.ts';
import { PendingCommit, stalePartitionError } from './pending-commit.ts';
import { type TailCache, readCached } from './tail-cache.ts';
import type { StorageWriter } from './storage-writer.ts';

const COMMIT_BYTES = 16 * 1024 * 1024;
/** Of one read from the database, however much a client asks for. */
const PAGE_BYTES = 8 * 1024 * 1024;
const PAGE_ROWS = 500;

interface Change {
  readonly bytes: number;
  readonly apply: (next: PendingCommit) => unknown;
}

/** Appends to and reads from the logs. */
export class Log {
  private readonly writer: StorageWriter;
  private readonly reads: Pool;
  private readonly catalogue: Catalogue;
  private readonly cache: TailCache;
  private readonly changes: GroupCommit<Change, unknown>;

  constructor(writer: StorageWriter, reads: Pool, catalogue: Catalogue, cache: TailCache) {
    this.writer = writer;
    this.reads = reads;
    this.catalogue = catalogue;
    this.cache = cache;
    this.changes = new GroupCommit(
      (changes) => this.commit(changes),
      ({ bytes }) => bytes,
      COMMIT_BYTES,
    );
  }

  /** Resolves to the batch's base offset once it is committed, or was committed before (the same batch of an idempotent producer).
   *  Batches of one partition are placed in the order of the calls. Throws KafkaError, or StorageAway when it may not be stored. */
  append = (partition: Partition, batch: Batch, transactionalId: string | null): Promise<number> =>
    this.commitChange((next) => next.append(partition, batch, transactionalId), batch.bytes.length);

  /** Resolves to what `apply` answers once everything that it did to the next state is committed, together with what others change
   *  at the same time. Throws what `apply` throws, which then must have done nothing. */
  commitChange<T>(apply: (next: PendingCommit) => T, bytes = 0): Promise<T> {
    return this.changes.submit({ bytes, apply }) as Promise<T>;
  }

  /** The session ended, and with it every partition that waiting appends are meant for. */
  onSessionLost(): void {
    this.changes.refuseWaiting();
    this.cache.clear();
  }

  /** Whole batches from the one that holds `offset` on and before `end`, about `maxBytes` of them and at least one unless there is none. */
  async read(partition: Partition, offset: number, maxBytes: number, end = partition.logEnd): Promise<Buffer[]> {
    if (offset >= end) return [];
    const cached = readCached(partition.tail, offset, maxBytes);
    if (cached) return end < partition.logEnd ? cached.filter((batch) => baseOffsetOf(batch) < end) : cached;
    try {
      const values = [partition.topic.id, partition.index, offset, end, Math.min(maxBytes, PAGE_BYTES), PAGE_ROWS];
      const { rows } = await this.reads.query<{ records: Buffer }>({ name: 'page', text: PAGE, values });
      return rows.map(({ records }) => records);
    } catch (error) {
      throw new StorageUnavailable(error);
    }
  }

  /** The aborted transactions that have records from `offset` on and before `end`. */
  async abortedTransactions(partition: Partition, offset: number, end: number): Promise<AbortedTransaction[]> {
    if (offset > partition.lastAbortOffset) return [];
    try {
      const { rows } = await this.reads.query<AbortedTransaction>(ABORTED, [
        partition.topic.id,
        partition.index,
        offset,
        end,
      ]);
      return rows;
    } catch (error) {
      throw new StorageUnavailable(error);
    }
  }

  /** The offset of the first batch that brought the largest timestamp so far to `timestamp` or beyond, or null. */
  firstBatchAtOrAfter = (partition: Partition, timestamp: number): Promise<number | null> =>
    this.find(FIRST_AT_OR_AFTER, [partition.topic.id, partition.index, timestamp]);

  /** The offset of the first batch that counts as not older than `timestamp` (ms), or the log's end. */
  async startForRetentionTime(partition: Partition, timestamp: number): Promise<number> {
    const { logEnd } = partition; // what is appended during the look-up is not among what was looked at
    return (await this.firstBatchAtOrAfter(partition, timestamp)) ?? logEnd;
  }

  /** The offset from which on the last `bytes` bytes are, to whole batches and rather more than less. */
  async startForRetentionBytes(partition: Partition, bytes: number): Promise<number> {
    const { logEnd, position, topic, index } = partition;
    return (await this.find(FIRST_BEYOND, [topic.id, index, position - bytes])) ?? logEnd;
  }

  /** Moves the log's start to `offset`; answers where it is then, which may be further on. The rows before it stay until the
   *  next cleanup. Throws KafkaError(offsetOutOfRange) for an offset beyond the end. */
  moveLogStart(partition: Partition, offset: number): Promise<number> {
    return this.writer.run(async (db) => {
      const outdated = stalePartitionError(this.catalogue, partition);
      if (outdated) throw outdated;
      if (offset < 0 || offset > partition.logEnd)
        throw new KafkaError(errorCode.offsetOutOfRange, `${offset} is not stored`);
      if (offset <= partition.logStart) return partition.logStart;
      await db.query(TRIM, [partition.topic.id, partition.index, offset]);
      partition.logStart = offset;
      return offset;
    });
  }

  private commit(changes: Change[]): Promise<unknown[]> {
    return this.writer.run(async (db) => {
      const next = new PendingCommit(this.catalogue);
      const results = changes.map(({ apply }) => attempt(() => apply(next)));
      const statement = next.statement();
      if (statement) await db.query(statement);
      next.applyToMemory(this.cache);
      return results;
    });
  }

  private async find(text: string, values: number[]): Promise<number | null> {
    try {
      const { rows } = await this.reads.query<{ base_offset: number }>(text, values);
      return rows[0]?.base_offset ?? null;
    } catch (error) {
      throw new StorageUnavailable(error);
    }
  }
}

export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

/** A refusal is the result of one change alone; anything else fails them all. */
const attempt = (apply: () => unknown): unknown => {
  try {
    return apply();
  } catch (error) {
    if (error instanceof KafkaError || error instanceof StorageUnavailable) return error;
    throw error;
  }
};

// Positions tell where the page ends before any records are read: those lie outside of the row.
const PAGE = `
  with page as (
    select records, position, last_offset, length(records) as size from kafka.batch
    where topic_id = $1 and partition = $2 and last_offset >= $3 and last_offset < $4
    order by last_offset limit $6
  )
  select records from page
  where position <= $5 + (select position - size from page order by last_offset limit 1)
     or last_offset = (select min(last_offset) from page)
  order by last_offset`;

const FIRST_AT_OR_AFTER = `
  select base_offset::float8 as base_offset from kafka.batch
  where topic_id = $1 and partition = $2 and max_timestamp >= $3
  order by max_timestamp, last_offset limit 1`;

const FIRST_BEYOND = `
  select base_offset::float8 as base_offset from kafka.batch
  where topic_id = $1 and partition = $2 and position >= $3
  order by position limit 1`;

const ABORTED = `
  select producer_id::float8 as "producerId", first_offset::float8 as "firstOffset" from kafka.aborted_transaction
  where topic_id = $1 and partition = $2 and last_offset >= $3 and first_offset < $4 order by first_offset`;

const TRIM = `
  insert into kafka.log_start (topic_id, partition, log_start) values ($1, $2, $3)
  on conflict (topic_id, partition) do update set log_start = excluded.log_start`;
