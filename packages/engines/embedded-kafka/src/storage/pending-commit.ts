import { wallClockMs } from '@cpg/platform';
import { errorCode, KafkaError } from '../errors.ts';
import { type Batch, controlBatch, setBaseOffset } from '../records/batch.ts';
import type { Catalogue } from './catalogue.ts';
import { LEADER_EPOCH, notifyReaders, type Partition } from './partition.ts';
import { checkSequence, type ProducerState, withStoredBatch } from './producers.ts';
import type { TailCache } from './tail-cache.ts';
import { checkProducer, includesPartition, type ProducerIdentity, type Transaction } from './transaction.ts';

/** Collects the changes of one group commit. A method that throws has changed nothing. */
export class PendingCommit {
  private readonly catalogue: Catalogue;
  private readonly logs = new Map<Partition, PendingLog>();
  private readonly transactions = new Map<string, Transaction>();
  private readonly rows = new CommitStatement();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  /** Appends the batch and returns its base offset. For a duplicate, returns the offset of the stored batch.
   *  `transactionalId` is the one of the request. Throws KafkaError, or StorageUnavailable for a partition of a lost
   *  session. */
  append(partition: Partition, batch: Batch, transactionalId: string | null): number {
    this.catalogue.requireCurrent(partition);
    const log = this.pendingLog(partition);
    const { producerId } = batch;
    if (producerId < 0) return this.appendTo(log, batch);

    const producer = log.producer(producerId);
    const duplicate = checkSequence(producer, batch);
    if (duplicate) return duplicate.baseOffset;
    if (batch.transactional) this.checkInTransaction(partition, batch, transactionalId);
    else if (log.openTransactions.has(producerId)) throw invalidState(`producer ${producerId} is in a transaction`);
    const baseOffset = this.appendTo(log, batch);
    log.producers.set(producerId, withStoredBatch(producer, batch, baseOffset));
    if (batch.transactional && !log.openTransactions.has(producerId)) log.openTransactions.set(producerId, baseOffset);
    return baseOffset;
  }

  findTransaction = (id: string): Transaction | undefined =>
    this.transactions.get(id) ?? this.catalogue.transactions.get(id);

  /** Throws KafkaError unless `producer` is the current producer of its transactional id. */
  requireTransaction = (producer: ProducerIdentity): Transaction =>
    checkProducer(this.findTransaction(producer.transactionalId), producer);

  saveTransaction(transaction: Transaction): void {
    this.transactions.set(transaction.id, transaction);
  }

  /** Ends the transaction, and saves it with the producer epoch `epoch`. */
  finishTransaction(transaction: Transaction, committed: boolean, epoch: number): void {
    this.endTransaction(transaction, committed, epoch);
    this.saveTransaction({ ...transaction, epoch, state: committed ? 'committed' : 'aborted', partitions: [] });
  }

  /** Appends a commit or abort marker to every log of the transaction. The markers have the producer epoch `epoch`: the
   *  logs refuse batches of older epochs from then on. */
  endTransaction({ producerId, partitions }: Transaction, committed: boolean, epoch: number): void {
    for (const { topic, topicId, index } of partitions) {
      const partition = this.catalogue.partition(topic, index);
      if (partition?.topic.id !== topicId) continue; // the topic was deleted during the transaction
      const log = this.pendingLog(partition);
      const marker = controlBatch({ producerId, producerEpoch: epoch, committed, timestamp: wallClockMs() });
      const offset = this.appendTo(log, marker);
      const first = log.openTransactions.get(producerId);
      log.openTransactions.delete(producerId);
      if (!committed && first !== undefined) {
        this.rows.addAborted(partition, producerId, first, offset);
        log.lastAbortOffset = offset;
      }
      const producer = log.producer(producerId);
      log.producers.set(producerId, { epoch, batches: producer?.epoch === epoch ? producer.batches : [] });
    }
  }

  /** The statement that stores all changes, or null if there are none. */
  statement(): Statement | null {
    for (const { partition, producers, openTransactions } of this.logs.values())
      this.rows.addProducers(partition, producers, openTransactions);
    for (const transaction of this.transactions.values()) this.rows.addTransaction(transaction);
    return this.rows.build();
  }

  /** Makes the changes visible, once they are committed. */
  applyToMemory(cache: TailCache): void {
    for (const transaction of this.transactions.values()) this.catalogue.transactions.set(transaction.id, transaction);
    for (const log of this.logs.values()) log.applyToMemory(cache);
  }

  private checkInTransaction({ topic, index }: Partition, batch: Batch, transactionalId: string | null): void {
    const { producerId, producerEpoch: epoch } = batch;
    const transaction = this.requireTransaction({ transactionalId: transactionalId ?? '', producerId, epoch });
    if (transaction.state !== 'ongoing' || !includesPartition(transaction, { topicId: topic.id, index })) {
      throw invalidState(`${topic.name}-${index} was not added to a transaction of "${transactionalId}"`);
    }
  }

  private pendingLog(partition: Partition): PendingLog {
    const log = this.logs.get(partition) ?? new PendingLog(partition);
    this.logs.set(partition, log);
    return log;
  }

  private appendTo(log: PendingLog, batch: Batch): number {
    const baseOffset = log.append(batch);
    this.rows.addBatch(baseOffset, log, batch.bytes);
    return baseOffset;
  }
}

const invalidState = (message: string) => new KafkaError(errorCode.invalidTransactionState, message);

/** The state of one log after the pending commit. The partition itself does not change until `applyToMemory`. */
export class PendingLog {
  readonly partition: Partition;
  logEnd: number;
  position: number;
  maxTimestamp: number;
  lastAbortOffset: number;
  /** The producers that change with the commit. */
  readonly producers = new Map<number, ProducerState>();
  readonly openTransactions: Map<number, number>;
  private readonly batches: Buffer[] = [];

  constructor(partition: Partition) {
    this.partition = partition;
    this.logEnd = partition.logEnd;
    this.position = partition.position;
    this.maxTimestamp = partition.maxTimestamp;
    this.lastAbortOffset = partition.lastAbortOffset;
    this.openTransactions = new Map(partition.openTransactions);
  }

  producer = (id: number): ProducerState | undefined => this.producers.get(id) ?? this.partition.producers.get(id);

  /** Writes the next offset into the batch and returns it. */
  append(batch: Batch): number {
    const baseOffset = this.logEnd;
    setBaseOffset(batch, baseOffset, LEADER_EPOCH);
    this.logEnd += batch.lastOffsetDelta + 1;
    this.position += batch.bytes.length;
    // Without a timestamp, the batch would count as older than any retention time.
    this.maxTimestamp = Math.max(this.maxTimestamp, batch.maxTimestamp < 0 ? wallClockMs() : batch.maxTimestamp);
    this.batches.push(batch.bytes);
    return baseOffset;
  }

  /** Copies the state to the partition, once it is committed. */
  applyToMemory(cache: TailCache): void {
    const { partition, logEnd, position, maxTimestamp, lastAbortOffset, openTransactions } = this;
    Object.assign(partition, { logEnd, position, maxTimestamp, lastAbortOffset, openTransactions });
    for (const [id, state] of this.producers) partition.producers.set(id, state);
    for (const batch of this.batches) cache.add(partition.tail, batch);
    notifyReaders(partition);
  }
}

export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** Collects the rows of one group commit and stores them by one statement, in one round trip.
 *  Every parameter is one column of a table; one more holds the records of all batches, joined. */
class CommitStatement {
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
