import type { Partition } from './partition.ts';
import type { PendingLog } from './pending-log.ts';
import type { ProducerState } from './producers.ts';
import type { Transaction } from './transaction.ts';

export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** Collects the rows of one group commit and stores them by one statement, in one round trip.
 *  Every parameter is one column of a table; one more holds the records of all batches, joined. */
export class CommitStatement {
  private readonly batches = columns(8);
  private readonly records: Buffer[] = [];
  private recordBytes = 0;
  private readonly producers = columns(6);
  private readonly aborted = columns(5);
  private readonly transactions = columns(7);

  /** `log` is the state after the batch. */
  addBatch(baseOffset: number, log: PendingLog, bytes: Buffer): void {
    const { logEnd, maxTimestamp, position } = log;
    const { topic, index } = log.partition;
    const first = this.recordBytes + 1;
    push(this.batches, [topic.id, index, baseOffset, logEnd - 1, maxTimestamp, position, first, bytes.length]);
    this.records.push(bytes);
    this.recordBytes += bytes.length;
  }

  /** `open` has the first offset of each open transaction, by producer id. */
  addProducers({ topic, index }: Partition, producers: Map<number, ProducerState>, open: Map<number, number>): void {
    for (const [id, { epoch, batches }] of producers) {
      push(this.producers, [topic.id, index, id, epoch, JSON.stringify(batches), open.get(id) ?? null]);
    }
  }

  addAborted({ topic, index }: Partition, producerId: number, first: number, last: number): void {
    push(this.aborted, [topic.id, index, producerId, first, last]);
  }

  addTransaction({ id, producerId, epoch, timeoutMs, state, startedAt, partitions }: Transaction): void {
    push(this.transactions, [id, producerId, epoch, timeoutMs, state, startedAt, JSON.stringify(partitions)]);
  }

  /** Null if there is nothing to store. */
  build(): Statement | null {
    if (this.records.length === 0 && this.transactions[0]!.length === 0) return null;
    const records = Buffer.concat(this.records, this.recordBytes);
    const values = [...this.batches, records, ...this.producers, ...this.aborted, ...this.transactions];
    return { name: 'append', text: APPEND, values };
  }
}

type Columns = (number | string | null)[][];

const columns = (count: number): Columns => Array.from({ length: count }, () => []);

const push = <T>(to: T[][], row: T[]): void => row.forEach((value, column) => to[column]!.push(value));

const APPEND = `
  with appended as (
    insert into kafka.batch (topic_id, partition, base_offset, last_offset, max_timestamp, position, records)
    select topic_id, partition, base_offset, last_offset, max_timestamp, position, substring($9::bytea from first for length)
    from unnest($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::int[], $8::int[])
      as b(topic_id, partition, base_offset, last_offset, max_timestamp, position, first, length)
  ), produced as (
    insert into kafka.producer (topic_id, partition, producer_id, epoch, batches, open_since)
    select * from unnest($10::int[], $11::int[], $12::bigint[], $13::int[], $14::jsonb[], $15::bigint[])
    on conflict (topic_id, partition, producer_id)
    do update set epoch = excluded.epoch, batches = excluded.batches, open_since = excluded.open_since, used_at = now()
  ), aborted as (
    insert into kafka.aborted_transaction (topic_id, partition, producer_id, first_offset, last_offset)
    select * from unnest($16::int[], $17::int[], $18::bigint[], $19::bigint[], $20::bigint[])
  )
  insert into kafka.transaction (id, producer_id, epoch, timeout_ms, state, started_at, partitions)
  select * from unnest($21::text[], $22::bigint[], $23::int[], $24::int[], $25::text[], $26::bigint[], $27::jsonb[])
  on conflict (id) do update set
    producer_id = excluded.producer_id, epoch = excluded.epoch, timeout_ms = excluded.timeout_ms, state = excluded.state,
    started_at = excluded.started_at, partitions = excluded.partitions, used_at = now()`;
