import { KafkaError, StorageAway, code } from '../protocol/errors.ts';
import { type Batch, place } from '../records/batch.ts';
import { controlBatch } from '../records/control-batch.ts';
import { type Catalogue, LEADER_EPOCH, type Partition, wake } from './catalogue.ts';
import { Changes, type Statement } from './changes.ts';
import { type ProducerState, checkSequence, remember } from './producers.ts';
import type { TailCache } from './tail-cache.ts';
import { type ProducerClaim, type Transaction, ofClaim, takesPart } from './transaction.ts';

/** A log as it will be. */
interface NextLog {
  logEnd: number;
  position: number;
  maxTimestamp: number;
  lastAborted: number;
  readonly producers: Map<number, ProducerState>;
  readonly open: Map<number, number>;
  readonly batches: Buffer[];
}

/** The logs and transactions as they will be once the commit under way is done. Every method changes all that it has to or, with
 *  an error, nothing. */
export class Next {
  private readonly catalogue: Catalogue;
  private readonly logs = new Map<Partition, NextLog>();
  private readonly transactions = new Map<string, Transaction>();
  private readonly changes = new Changes();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  /** Appends the batch and answers its base offset, or the one it has since it came before. `transactionalId` is the request's.
   *  Throws KafkaError, or StorageAway for a partition of an earlier session. */
  append(partition: Partition, batch: Batch, transactionalId: string | null): number {
    const outdated = outdatedIn(this.catalogue, partition);
    if (outdated) throw outdated;
    const log = this.log(partition);
    const { producerId } = batch;
    if (producerId < 0) return this.place(partition, log, batch);

    const producer = log.producers.get(producerId) ?? partition.producers.get(producerId);
    const stored = checkSequence(producer, batch);
    if (stored) return stored.baseOffset;
    if (batch.transactional) this.checkTakesPart(partition, batch, transactionalId);
    else if (log.open.has(producerId)) throw invalidState(`producer ${producerId} is in a transaction`);
    const baseOffset = this.place(partition, log, batch);
    log.producers.set(producerId, remember(producer, batch, baseOffset));
    if (batch.transactional && !log.open.has(producerId)) log.open.set(producerId, baseOffset);
    return baseOffset;
  }

  transaction = (id: string): Transaction | undefined =>
    this.transactions.get(id) ?? this.catalogue.transactions.get(id);

  /** Throws KafkaError for who does not run the transaction, or no more. */
  demand = (claim: ProducerClaim): Transaction => ofClaim(this.transaction(claim.transactionalId), claim);

  keep(transaction: Transaction): void {
    this.transactions.set(transaction.id, transaction);
  }

  /** Writes the end of an ongoing transaction into its logs, in the name of `epoch`: nothing of an older one is stored there any more. */
  end({ producerId, partitions }: Transaction, committed: boolean, epoch: number): void {
    for (const { topic, topicId, index } of partitions) {
      const partition = this.catalogue.partition(topic, index);
      if (partition?.topic.id !== topicId) continue; // deleted since
      const log = this.log(partition);
      const marker = controlBatch({ producerId, producerEpoch: epoch, committed, at: Date.now() });
      const offset = this.place(partition, log, marker);
      const first = log.open.get(producerId);
      log.open.delete(producerId);
      if (!committed && first !== undefined) {
        this.changes.addAborted(partition, producerId, first, offset);
        log.lastAborted = offset;
      }
      const producer = log.producers.get(producerId) ?? partition.producers.get(producerId);
      log.producers.set(producerId, { epoch, batches: producer?.epoch === epoch ? producer.batches : [] });
    }
  }

  /** Stores everything, or nothing: null where nothing changes. */
  statement(): Statement | null {
    for (const [partition, { producers, open }] of this.logs) this.changes.addProducers(partition, producers, open);
    for (const transaction of this.transactions.values()) this.changes.addTransaction(transaction);
    return this.changes.statement();
  }

  /** Lets everyone see what is stored now. */
  publish(cache: TailCache): void {
    for (const transaction of this.transactions.values()) this.catalogue.transactions.set(transaction.id, transaction);
    for (const [partition, { producers, open, batches, ...ends }] of this.logs) {
      Object.assign(partition, ends, { open });
      for (const [id, state] of producers) partition.producers.set(id, state);
      for (const batch of batches) cache.add(partition.tail, batch);
      wake(partition);
    }
  }

  private checkTakesPart({ topic, index }: Partition, batch: Batch, transactionalId: string | null): void {
    const { producerId, producerEpoch: epoch } = batch;
    const transaction = this.demand({ transactionalId: transactionalId ?? '', producerId, epoch });
    if (transaction.state !== 'ongoing' || !takesPart(transaction, { topicId: topic.id, index })) {
      throw invalidState(`${topic.name}-${index} was not added to a transaction of "${transactionalId}"`);
    }
  }

  private log(partition: Partition): NextLog {
    const known = this.logs.get(partition);
    if (known) return known;
    const { logEnd, position, maxTimestamp, lastAborted, open } = partition;
    const log = { logEnd, position, maxTimestamp, lastAborted, producers: new Map(), open: new Map(open), batches: [] };
    this.logs.set(partition, log);
    return log;
  }

  private place(partition: Partition, log: NextLog, batch: Batch): number {
    const baseOffset = log.logEnd;
    place(batch, baseOffset, LEADER_EPOCH);
    log.logEnd += batch.lastOffsetDelta + 1;
    log.position += batch.bytes.length;
    // A batch without a time is as old as its arrival, or retention would take it away at once.
    log.maxTimestamp = Math.max(log.maxTimestamp, batch.maxTimestamp < 0 ? Date.now() : batch.maxTimestamp);
    log.batches.push(batch.bytes);
    this.changes.addBatch(partition, baseOffset, log, batch.bytes);
    return baseOffset;
  }
}

/** Why nothing may be written through `partition` any more: it was deleted, or loaded anew in a later session. */
export const outdatedIn = (catalogue: Catalogue, partition: Partition): KafkaError | StorageAway | null => {
  const current = catalogue.partition(partition.topic.name, partition.index);
  if (!current) return new KafkaError(code.unknownTopicOrPartition, 'the topic was deleted');
  return current === partition ? null : new StorageAway();
};

const invalidState = (message: string) => new KafkaError(code.invalidTransactionState, message);
