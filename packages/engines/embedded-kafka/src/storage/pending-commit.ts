import { wallClockMs } from '@cpg/platform';
import { errorCode, KafkaError } from '../errors.ts';
import type { Batch } from '../records/batch.ts';
import { controlBatch } from '../records/control-batch.ts';
import type { Catalogue } from './catalogue.ts';
import { CommitStatement, type Statement } from './commit-statement.ts';
import type { Partition } from './partition.ts';
import { PendingLog } from './pending-log.ts';
import { checkSequence, withStoredBatch } from './producers.ts';
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
