import type { Pool } from 'pg';
import { KafkaError, StorageAway, code } from '../protocol/errors.ts';
import { type Batch, place } from '../records/batch.ts';
import { type Catalogue, type Partition, wake } from './catalogue.ts';
import { GroupCommit } from './group-commit.ts';
import { type ProducerState, checkSequence, remember } from './producers.ts';
import { type TailCache, cachedFrom } from './tail-cache.ts';
import type { Writer } from './writer.ts';

/** This broker is the leader of everything, always was, and never takes a record back: the epoch has no reason to change. */
export const LEADER_EPOCH = 0;

const COMMIT_BYTES = 16 * 1024 * 1024;
/** Of one read from the database, however much a client asks for. */
const PAGE_BYTES = 8 * 1024 * 1024;
const PAGE_ROWS = 500;

interface Append {
  readonly partition: Partition;
  readonly batch: Batch;
}

/** A partition as it will be once the commit under way is done. */
interface Ahead {
  logEnd: number;
  position: number;
  maxTimestamp: number;
  readonly producers: Map<number, ProducerState>;
  readonly batches: Buffer[];
}

/** Appends to and reads from the logs. */
export class Log {
  private readonly writer: Writer;
  private readonly reads: Pool;
  private readonly catalogue: Catalogue;
  private readonly cache: TailCache;
  private readonly appends: GroupCommit<Append, number>;

  constructor(writer: Writer, reads: Pool, catalogue: Catalogue, cache: TailCache) {
    this.writer = writer;
    this.reads = reads;
    this.catalogue = catalogue;
    this.cache = cache;
    this.appends = new GroupCommit(
      (items) => this.commit(items),
      ({ batch }) => batch.bytes.length,
      COMMIT_BYTES,
    );
  }

  /** Resolves to the batch's base offset once it is committed, or was committed before (the same batch of an idempotent producer).
   *  Batches of one partition are placed in the order of the calls. Throws KafkaError, or StorageAway when it may not be stored. */
  append = (partition: Partition, batch: Batch): Promise<number> => this.appends.submit({ partition, batch });

  /** The session ended, and with it every partition that waiting appends are meant for. */
  lost(): void {
    this.appends.refuseWaiting();
    this.cache.clear();
  }

  /** Whole batches from the one that holds `offset` on, about `maxBytes` of them and at least one unless the log ends there. */
  async read(partition: Partition, offset: number, maxBytes: number): Promise<Buffer[]> {
    if (offset >= partition.logEnd) return [];
    const cached = cachedFrom(partition.tail, offset, maxBytes);
    if (cached) return cached;
    try {
      const values = [
        partition.topic.id,
        partition.index,
        offset,
        partition.logEnd,
        Math.min(maxBytes, PAGE_BYTES),
        PAGE_ROWS,
      ];
      const { rows } = await this.reads.query<{ records: Buffer }>({ name: 'page', text: PAGE, values });
      return rows.map(({ records }) => records);
    } catch (error) {
      throw new StorageAway(error);
    }
  }

  /** The offset of the first batch that brought the largest timestamp so far to `timestamp` or beyond, or null. */
  firstAtOrAfter = (partition: Partition, timestamp: number): Promise<number | null> =>
    this.find(FIRST_AT_OR_AFTER, [partition.topic.id, partition.index, timestamp]);

  /** The offset of the first batch that counts as not older than `timestamp` (ms), or the log's end. */
  startOfTime = async (partition: Partition, timestamp: number): Promise<number> =>
    (await this.firstAtOrAfter(partition, timestamp)) ?? partition.logEnd;

  /** The offset from which on the last `bytes` bytes are, to whole batches and rather more than less. */
  async startOfLast(partition: Partition, bytes: number): Promise<number> {
    const { logEnd, position, topic, index } = partition;
    return (await this.find(FIRST_BEYOND, [topic.id, index, position - bytes])) ?? logEnd;
  }

  /** Moves the log's start to `offset`; answers where it is then, which may be further on. The rows before it stay until the
   *  next cleanup. Throws KafkaError(offsetOutOfRange) for an offset beyond the end. */
  trim(partition: Partition, offset: number): Promise<number> {
    return this.writer.run(async (db) => {
      const outdated = this.outdated(partition);
      if (outdated) throw outdated;
      if (offset < 0 || offset > partition.logEnd)
        throw new KafkaError(code.offsetOutOfRange, `${offset} is not stored`);
      if (offset <= partition.logStart) return partition.logStart;
      await db.query(TRIM, [partition.topic.id, partition.index, offset]);
      partition.logStart = offset;
      return offset;
    });
  }

  private commit(items: Append[]): Promise<(number | Error)[]> {
    return this.writer.run(async (db) => {
      const ahead = new Map<Partition, Ahead>();
      const rows = new Rows();
      const results = items.map(({ partition, batch }) => {
        const outdated = this.outdated(partition);
        if (outdated) return outdated;
        const state = ahead.get(partition) ?? aheadOf(partition);
        ahead.set(partition, state);
        return placeNext(partition, state, batch, rows);
      });
      if (rows.isEmpty) return results;
      for (const [partition, { producers }] of ahead) rows.addProducers(partition, producers);
      await db.query({ name: 'append', text: APPEND, values: rows.values() });
      for (const [partition, state] of ahead) this.advance(partition, state);
      return results;
    });
  }

  /** Why nothing may be written through `partition` any more: it was deleted, or loaded anew in a later session. */
  private outdated(partition: Partition): KafkaError | StorageAway | null {
    const current = this.catalogue.partition(partition.topic.name, partition.index);
    if (!current) return new KafkaError(code.unknownTopicOrPartition, 'the topic was deleted');
    return current === partition ? null : new StorageAway();
  }

  private async find(text: string, values: number[]): Promise<number | null> {
    try {
      const { rows } = await this.reads.query<{ base_offset: number }>(text, values);
      return rows[0]?.base_offset ?? null;
    } catch (error) {
      throw new StorageAway(error);
    }
  }

  private advance(partition: Partition, { logEnd, position, maxTimestamp, producers, batches }: Ahead): void {
    Object.assign(partition, { logEnd, position, maxTimestamp });
    for (const [id, state] of producers) partition.producers.set(id, state);
    for (const batch of batches) this.cache.add(partition.tail, batch);
    wake(partition);
  }
}

const aheadOf = ({ logEnd, position, maxTimestamp }: Partition): Ahead => ({
  logEnd,
  position,
  maxTimestamp,
  producers: new Map(),
  batches: [],
});

const placeNext = (partition: Partition, state: Ahead, batch: Batch, rows: Rows): number | Error => {
  const idempotent = batch.producerId >= 0;
  const producer = state.producers.get(batch.producerId) ?? partition.producers.get(batch.producerId);
  if (idempotent) {
    try {
      const stored = checkSequence(producer, batch);
      if (stored) return stored.baseOffset;
    } catch (error) {
      return error as Error;
    }
  }
  const baseOffset = state.logEnd;
  place(batch, baseOffset, LEADER_EPOCH);
  state.logEnd += batch.lastOffsetDelta + 1;
  state.position += batch.bytes.length;
  // A batch without a time is as old as its arrival, or retention would take it away at once.
  state.maxTimestamp = Math.max(state.maxTimestamp, batch.maxTimestamp < 0 ? Date.now() : batch.maxTimestamp);
  state.batches.push(batch.bytes);
  if (idempotent) state.producers.set(batch.producerId, remember(producer, batch, baseOffset));
  rows.addBatch(partition, baseOffset, state, batch.bytes);
  return baseOffset;
};

/** The parameters of APPEND: a column each, the records of all batches behind one another. */
class Rows {
  private readonly batches: number[][] = [[], [], [], [], [], [], [], []];
  private readonly producers: (number | string)[][] = [[], [], [], [], []];
  private readonly records: Buffer[] = [];
  private length = 0;

  get isEmpty(): boolean {
    return this.records.length === 0;
  }

  addBatch(
    { topic, index }: Partition,
    baseOffset: number,
    { logEnd, maxTimestamp, position }: Ahead,
    bytes: Buffer,
  ): void {
    push(this.batches, [
      topic.id,
      index,
      baseOffset,
      logEnd - 1,
      maxTimestamp,
      position,
      this.length + 1,
      bytes.length,
    ]);
    this.records.push(bytes);
    this.length += bytes.length;
  }

  addProducers({ topic, index }: Partition, producers: Map<number, ProducerState>): void {
    for (const [id, { epoch, batches }] of producers) {
      push(this.producers, [topic.id, index, id, epoch, JSON.stringify(batches)]);
    }
  }

  values = (): unknown[] => [...this.batches, Buffer.concat(this.records, this.length), ...this.producers];
}

const push = <T>(columns: T[][], row: T[]): void => row.forEach((value, column) => columns[column]!.push(value));

const APPEND = `
  with appended as (
    insert into kafka.batch (topic_id, partition, base_offset, last_offset, max_timestamp, position, records)
    select topic_id, partition, base_offset, last_offset, max_timestamp, position, substring($9::bytea from first for length)
    from unnest($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::int[], $8::int[])
      as b(topic_id, partition, base_offset, last_offset, max_timestamp, position, first, length)
  )
  insert into kafka.producer (topic_id, partition, producer_id, epoch, batches)
  select * from unnest($10::int[], $11::int[], $12::bigint[], $13::int[], $14::jsonb[])
  on conflict (topic_id, partition, producer_id)
  do update set epoch = excluded.epoch, batches = excluded.batches, used_at = now()`;

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

const TRIM = `
  insert into kafka.log_start (topic_id, partition, log_start) values ($1, $2, $3)
  on conflict (topic_id, partition) do update set log_start = excluded.log_start`;
