import type { ClientBase } from 'pg';
import { KafkaError, StorageUnavailable, errorCode } from '../errors.ts';
import { loadTopics, loadTransactions } from './load-catalogue.ts';
import { type Partition, type Topic, notifyReaders } from './partition.ts';
import type { Transaction } from './transaction.ts';

/** All topics and transactions in memory. They hold committed state only. */
export class Catalogue {
  private readonly topics = new Map<string, Topic>();
  /** By transactional id. */
  readonly transactions = new Map<string, Transaction>();

  allTopics = (): Topic[] => [...this.topics.values()];
  allPartitions = (): Partition[] => this.allTopics().flatMap((topic) => topic.partitions);
  topic = (name: string): Topic | undefined => this.topics.get(name);
  partition = (name: string, index: number): Partition | undefined => this.topics.get(name)?.partitions[index];

  /** Throws KafkaError(unknownTopicOrPartition) if the partition does not exist. */
  requirePartition(name: string, index: number): Partition {
    const partition = this.partition(name, index);
    if (!partition)
      throw new KafkaError(errorCode.unknownTopicOrPartition, `partition ${name}-${index} does not exist`);
    return partition;
  }

  /** Throws if nothing may be written to `partition`: KafkaError if its topic was deleted, StorageUnavailable if a new
   *  session has loaded the partition again. */
  requireCurrent(partition: Partition): void {
    const current = this.partition(partition.topic.name, partition.index);
    if (!current) throw new KafkaError(errorCode.unknownTopicOrPartition, 'the topic was deleted');
    if (current !== partition) throw new StorageUnavailable();
  }

  addTopic = (topic: Topic): void => void this.topics.set(topic.name, topic);

  removeTopic(topic: Topic): void {
    this.topics.delete(topic.name);
    topic.partitions.forEach(notifyReaders);
  }

  /** Replaces everything with the stored state. */
  async load(db: ClientBase): Promise<void> {
    const topics = await loadTopics(db);
    const transactions = await loadTransactions(db);
    const replaced = this.allPartitions();
    this.topics.clear();
    topics.forEach(this.addTopic);
    this.transactions.clear();
    for (const transaction of transactions) this.transactions.set(transaction.id, transaction);
    replaced.forEach(notifyReaders);
  }
}
