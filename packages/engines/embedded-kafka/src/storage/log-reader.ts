import type { Pool, QueryResultRow } from 'pg';
import { StorageUnavailable } from '../errors.ts';
import { baseOffsetOf } from '../records/batch.ts';
import type { Partition } from './partition.ts';
import { readCached } from './tail-cache.ts';

/** Limits of one read from the database, whatever the client asks for. */
const MAX_READ_BYTES = 8 * 1024 * 1024;
const MAX_READ_ROWS = 500;

export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

/** Reads the logs, from memory or from the database. Every method throws StorageUnavailable when a query fails. */
export class LogReader {
  private readonly pool: Pool;

  constructor(pool: Pool) {
    this.pool = pool;
  }

  /** Whole batches from the one with `offset` to the last one before `end`. Returns about `maxBytes` of them, at least
   *  one. */
  async read(partition: Partition, offset: number, maxBytes: number, end = partition.logEnd): Promise<Buffer[]> {
    if (offset >= end) return [];
    const cached = readCached(partition.tail, offset, maxBytes);
    if (cached) return end < partition.logEnd ? cached.filter((batch) => baseOffsetOf(batch) < end) : cached;
    const limits = [Math.min(maxBytes, MAX_READ_BYTES), MAX_READ_ROWS];
    const rows = await this.query<{ records: Buffer }>(READ, [...idOf(partition), offset, end, ...limits], 'page');
    return rows.map(({ records }) => records);
  }

  /** The aborted transactions with records from `offset` to before `end`. */
  async abortedTransactions(partition: Partition, offset: number, end: number): Promise<AbortedTransaction[]> {
    if (offset > partition.lastAbortOffset) return [];
    return this.query<AbortedTransaction>(ABORTED_TRANSACTIONS, [...idOf(partition), offset, end]);
  }

  /** The base offset of the first batch after which the largest timestamp of the log is `timestamp` (ms) or later, or
   *  null. */
  firstBatchAtOrAfter = (partition: Partition, timestamp: number): Promise<number | null> =>
    this.baseOffset(FIRST_AT_OR_AFTER, [...idOf(partition), timestamp]);

  /** The log start that keeps every batch since `timestamp` (ms). */
  async startForRetentionTime(partition: Partition, timestamp: number): Promise<number> {
    const { logEnd } = partition; // read first: the query does not see batches that are appended meanwhile
    return (await this.firstBatchAtOrAfter(partition, timestamp)) ?? logEnd;
  }

  /** The log start that keeps the last `bytes` bytes, rounded up to whole batches. */
  async startForRetentionBytes(partition: Partition, bytes: number): Promise<number> {
    const { logEnd, position } = partition;
    return (await this.baseOffset(FIRST_BEYOND_POSITION, [...idOf(partition), position - bytes])) ?? logEnd;
  }

  private async baseOffset(text: string, values: number[]): Promise<number | null> {
    const rows = await this.query<{ base_offset: number }>(text, values);
    return rows[0]?.base_offset ?? null;
  }

  private async query<T extends QueryResultRow>(text: string, values: number[], name?: string): Promise<T[]> {
    try {
      return (await this.pool.query<T>({ name, text, values })).rows;
    } catch (error) {
      throw new StorageUnavailable(error);
    }
  }
}

const idOf = ({ topic, index }: Partition): [topicId: number, index: number] => [topic.id, index];

// `position` finds the end of the page without reading `records`, which is stored outside of the row.
const READ = `
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

const FIRST_BEYOND_POSITION = `
  select base_offset::float8 as base_offset from kafka.batch
  where topic_id = $1 and partition = $2 and position >= $3
  order by position limit 1`;

const ABORTED_TRANSACTIONS = `
  select producer_id::float8 as "producerId", first_offset::float8 as "firstOffset" from kafka.aborted_transaction
  where topic_id = $1 and partition = $2 and last_offset >= $3 and first_offset < $4 order by first_offset`;
