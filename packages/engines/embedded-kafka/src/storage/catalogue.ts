import type { ClientBase } from 'pg';
import { errorCode, KafkaError, StorageUnavailable } from '../errors.ts';
import { emptyPartition, notifyReaders, type Partition, type Topic } from './partition.ts';
import type { ProducerState } from './producers.ts';
import type { TopicConfig } from './topic-config.ts';
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

/** Loads all topics with their partitions and the producers that wrote to them. */
const loadTopics = async (db: ClientBase): Promise<Topic[]> => {
  const partitions = await db.query<PartitionRow>(LOAD_PARTITIONS);
  const producers = await db.query<ProducerRow>(LOAD_PRODUCERS);
  const topics = new Map<number, Topic>();
  for (const row of partitions.rows) {
    const { topic_id: id, name, config } = row;
    const topic: Topic = topics.get(id) ?? { id, name, config, partitions: [] };
    topics.set(id, topic);
    topic.partitions.push({
      ...emptyPartition(topic, row.partition),
      logStart: row.log_start,
      logEnd: Math.max(row.log_start, (row.last_offset ?? -1) + 1),
      position: row.position ?? 0,
      maxTimestamp: row.max_timestamp ?? -1,
      lastAbortOffset: row.last_aborted ?? -1,
    });
  }
  for (const { topic_id, partition: index, producer_id, epoch, batches, open_since } of producers.rows) {
    const partition = topics.get(topic_id)?.partitions[index];
    if (!partition) continue;
    partition.producers.set(producer_id, { epoch, batches });
    if (open_since === null) continue;
    partition.openTransactions = new Map([...partition.openTransactions, [producer_id, open_since]]);
  }
  return [...topics.values()];
};

const loadTransactions = async (db: ClientBase): Promise<Transaction[]> =>
  (await db.query<Transaction>(LOAD_TRANSACTIONS)).rows;

interface PartitionRow {
  readonly topic_id: number;
  readonly name: string;
  readonly config: Partial<TopicConfig>;
  readonly partition: number;
  readonly log_start: number;
  readonly last_offset: number | null;
  readonly position: number | null;
  readonly max_timestamp: number | null;
  readonly last_aborted: number | null;
}

interface ProducerRow extends ProducerState {
  readonly topic_id: number;
  readonly partition: number;
  readonly producer_id: number;
  readonly open_since: number | null;
}

// `pg` returns bigint as a string and float8 as a number. All values are below 2^53.
const LOAD_PARTITIONS = `
  select t.id as topic_id, t.name, t.config, p.partition, coalesce(s.log_start, 0)::float8 as log_start,
         b.last_offset::float8 as last_offset, b.position::float8 as position, b.max_timestamp::float8 as max_timestamp,
         (select max(a.last_offset) from kafka.aborted_transaction a
          where a.topic_id = t.id and a.partition = p.partition)::float8 as last_aborted
  from kafka.topic t
  cross join lateral generate_series(0, t.partitions - 1) as p(partition)
  left join kafka.log_start s on s.topic_id = t.id and s.partition = p.partition
  left join lateral (
    select last_offset, position, max_timestamp from kafka.batch
    where topic_id = t.id and partition = p.partition order by last_offset desc limit 1
  ) b on true
  where not t.deleted order by t.id, p.partition`;

const LOAD_PRODUCERS = `
  select topic_id, partition, producer_id::float8 as producer_id, epoch, batches, open_since::float8 as open_since
  from kafka.producer order by open_since`;

const LOAD_TRANSACTIONS = `
  select id, producer_id::float8 as "producerId", epoch, timeout_ms as "timeoutMs", state, started_at::float8 as "startedAt",
         partitions
  from kafka.transaction`;
