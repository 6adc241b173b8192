import { KafkaError, StorageUnavailable, errorCode } from '../errors.ts';
import { type Batch, setBaseOffset } from '../records/batch.ts';
import { controlBatch } from '../records/control-batch.ts';
import { type Catalogue, LEADER_EPOCH, type Partition, notifyReaders } from './catalogue.ts';
import { CommitStatement, type Statement } from './commit-statement.ts';
import { type ProducerState, checkSequence, withStoredBatch } from './producers.ts';
import type { TailCache } from './tail-cache.ts';
import { type ProducerIdentity, type Transaction, checkProducer, includesPartition } from './transaction.ts';

/** A log as it will be. */
interface PendingLog {
  logEnd: number;
  position: number;
  maxTimestamp: number;
  lastAbortOffset: number;
  readonly producers: Map<number, ProducerState>;
  readonly openTransactions: Map<number, number>;
  readonly batches: Buffer[];
}

/** The logs and transactions as they will be once the commit under way is done. Every method changes all that it has to or, with
 *  an error, nothing. */
export class PendingCommit {
  private readonly catalogue: Catalogue;
  private readonly logs = new Map<Partition, PendingLog>();
  private readonly transactions = new Map<string, Transaction>();
  private readonly statementBuilder = new CommitStatement();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  /** Appends the batch and answers its base offset, or the one it has since it came before. `transactionalId` is the request's.
   *  Throws KafkaError, or StorageAway for a partition of an earlier session. */
  append(partition: Partition, batch: Batch, transactionalId: string | null): number {
    const outdated = stalePartitionError(this.catalogue, partition);
    if (outdated) throw outdated;
    const pendingLog = this.log(partition);
    const { producerId } = batch;
    if (producerId < 0) return this.assignOffset(partition, pendingLog, batch);

    const producer = pendingLog.producers.get(producerId) ?? partition.producers.get(producerId);
    const stored = checkSequence(producer, batch);
    if (stored) return stored.baseOffset;
    if (batch.transactional) this.checkTakesPart(partition, batch, transactionalId);
    else if (pendingLog.openTransactions.has(producerId))
      throw invalidState(`producer ${producerId} is in a transaction`);
    const baseOffset = this.assignOffset(partition, pendingLog, batch);
    pendingLog.producers.set(producerId, withStoredBatch(producer, batch, baseOffset));
    if (batch.transactional && !pendingLog.openTransactions.has(producerId))
      pendingLog.openTransactions.set(producerId, baseOffset);
    return baseOffset;
  }

  findTransaction = (id: string): Transaction | undefined =>
    this.transactions.get(id) ?? this.catalogue.transactions.get(id);

  /** Throws KafkaError for who does not run the transaction, or no more. */
  requireTransaction = (claim: ProducerIdentity): Transaction =>
    checkProducer(this.findTransaction(claim.transactionalId), claim);

  saveTransaction(transaction: Transaction): void {
    this.transactions.set(transaction.id, transaction);
  }

  /** Writes the end of an ongoing transaction into its logs, in the name of `epoch`: nothing of an older one is stored there any more. */
  endTransaction({ producerId, partitions }: Transaction, committed: boolean, epoch: number): void {
    for (const { topic, topicId, index } of partitions) {
      const partition = this.catalogue.partition(topic, index);
      if (partition?.topic.id !== topicId) continue; // deleted since
      const log = this.log(partition);
      const marker = controlBatch({ producerId, producerEpoch: epoch, committed, at: Date.now() });
      const offset = this.assignOffset(partition, log, marker);
      const first = log.openTransactions.get(producerId);
      log.openTransactions.delete(producerId);
      if (!committed && first !== undefined) {
        this.statementBuilder.addAborted(partition, producerId, first, offset);
        log.lastAbortOffset = offset;
      }
      const producer = log.producers.get(producerId) ?? partition.producers.get(producerId);
      log.producers.set(producerId, { epoch, batches: producer?.epoch === epoch ? producer.batches : [] });
    }
  }

  /** Stores everything, or nothing: null where nothing changes. */
  statement(): Statement | null {
    for (const [partition, { producers, openTransactions: open }] of this.logs)
      this.statementBuilder.addProducers(partition, producers, open);
    for (const transaction of this.transactions.values()) this.statementBuilder.addTransaction(transaction);
    return this.statementBuilder.build();
  }

  /** Lets everyone see what is stored now. */
  applyToMemory(cache: TailCache): void {
    for (const transaction of this.transactions.values()) this.catalogue.transactions.set(transaction.id, transaction);
    for (const [partition, { producers, openTransactions, batches, ...ends }] of this.logs) {
      Object.assign(partition, ends, { openTransactions });
      for (const [id, state] of producers) partition.producers.set(id, state);
      for (const batch of batches) cache.add(partition.tail, batch);
      notifyReaders(partition);
    }
  }

  private checkTakesPart({ topic, index }: Partition, batch: Batch, transactionalId: string | null): void {
    const { producerId, producerEpoch: epoch } = batch;
    const transaction = this.requireTransaction({ transactionalId: transactionalId ?? '', producerId, epoch });
    if (transaction.state !== 'ongoing' || !includesPartition(transaction, { topicId: topic.id, index })) {
      throw invalidState(`${topic.name}-${index} was not added to a transaction of "${transactionalId}"`);
    }
  }

  private log(partition: Partition): PendingLog {
    const known = this.logs.get(partition);
    if (known) return known;
    const { logEnd, position, maxTimestamp, lastAbortOffset, openTransactions } = partition;
    const log = {
      logEnd,
      position,
      maxTimestamp,
      lastAbortOffset,
      producers: new Map(),
      openTransactions: new Map(openTransactions),
      batches: [],
    };
    this.logs.set(partition, log);
    return log;
  }

  private assignOffset(partition: Partition, log: PendingLog, batch: Batch): number {
    const baseOffset = log.logEnd;
    setBaseOffset(batch, baseOffset, LEADER_EPOCH);
    log.logEnd += batch.lastOffsetDelta + 1;
    log.position += batch.bytes.length;
    // A batch without a time is as old as its arrival, or retention would take it away at once.
    log.maxTimestamp = Math.max(log.maxTimestamp, batch.maxTimestamp < 0 ? Date.now() : batch.maxTimestamp);
    log.batches.push(batch.bytes);
    this.statementBuilder.addBatch(partition, baseOffset, log, batch.bytes);
    return baseOffset;
  }
}

/** Why nothing may be written through `partition` any more: it was deleted, or loaded anew in a later session. */
export const stalePartitionError = (
  catalogue: Catalogue,
  partition: Partition,
): KafkaError | StorageUnavailable | null => {
  const current = catalogue.partition(partition.topic.name, partition.index);
  if (!current) return new KafkaError(errorCode.unknownTopicOrPartition, 'the topic was deleted');
  return current === partition ? null : new StorageUnavailable();
};

const invalidState = (message: string) => new KafkaError(errorCode.invalidTransactionState, message);
