import type { ClientBase } from 'pg';
import { KafkaError, errorCode } from '../errors.ts';
import type { ProducerState } from './producers.ts';
import { Queue } from './queue.ts';
import type { Tail } from './tail-cache.ts';
import type { TopicConfig } from './topic-config.ts';
import type { Transaction } from './transaction.ts';
import { inTransaction, type StorageWriter } from './storage-writer.ts';

export interface Topic {
  readonly id: number;
  readonly name: string;
  readonly config: Partial<TopicConfig>;
  readonly partitions: Partition[];
}

/** One log, as far as it is committed. */
export interface Partition {
  readonly topic: Topic;
  readonly index: number;
  logStart: number;
  /** The offset that comes next: the high watermark, as nothing uncommitted is ever counted. */
  logEnd: number;
  /** Bytes appended so far, up to and with the last batch. */
  position: number;
  /** The largest timestamp so far, in ms. */
  maxTimestamp: number;
  readonly producers: Map<number, ProducerState>;
  /** The first offset of each producer's open transaction, in the order of the offsets. */
  openTransactions: ReadonlyMap<number, number>;
  /** The offset of the last marker that aborted a transaction, -1 without any. */
  lastAbortOffset: number;
  readonly tail: Tail;
  /** Called when there is something new to read, or no partition any more. */
  readonly waitingReaders: Set<() => void>;
}

export const MAX_PARTITIONS = 10_000;

/** This broker is the leader of everything, always was, and never takes a record back: the epoch has no reason to change. */
export const LEADER_EPOCH = 0;

/** The topics and transactions of this broker. Reads are from memory; every change is committed before it can be seen. */
export class Catalogue {
  private readonly topics = new Map<string, Topic>();
  /** By transactional id. */
  readonly transactions = new Map<string, Transaction>();

  allTopics = (): Topic[] => [...this.topics.values()];
  allPartitions = (): Partition[] => this.allTopics().flatMap((topic) => topic.partitions);
  topic = (name: string): Topic | undefined => this.topics.get(name);
  partition = (name: string, index: number): Partition | undefined => this.topics.get(name)?.partitions[index];

  /** Throws KafkaError(unknownTopicOrPartition) where `partition` answers undefined. */
  requirePartition(name: string, index: number): Partition {
    const partition = this.partition(name, index);
    if (!partition) throw new KafkaError(errorCode.unknownTopicOrPartition, `there is no ${name}-${index}`);
    return partition;
  }

  /** Replaces everything by what is stored. */
  async load(db: ClientBase): Promise<void> {
    const partitions = await db.query<PartitionRow>(LOAD_PARTITIONS);
    const producers = await db.query<ProducerRow>(LOAD_PRODUCERS);
    const transactions = await db.query<Transaction>(LOAD_TRANSACTIONS);
    const before = this.allPartitions();
    this.topics.clear();
    const byId = new Map<number, Topic>();
    for (const row of partitions.rows) {
      const topic: Topic = byId.get(row.topic_id) ?? {
        id: row.topic_id,
        name: row.name,
        config: row.config,
        partitions: [],
      };
      byId.set(topic.id, topic);
      this.topics.set(topic.name, topic);
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
      const partition = byId.get(topic_id)?.partitions[index];
      partition?.producers.set(producer_id, { epoch, batches });
      if (partition && open_since !== null)
        partition.openTransactions = new Map([...partition.openTransactions, [producer_id, open_since]]);
    }
    this.transactions.clear();
    for (const transaction of transactions.rows) this.transactions.set(transaction.id, transaction);
    before.forEach(notifyReaders);
  }

  /** Makes a topic. Throws KafkaError for a name that is taken or not allowed and for a number of partitions out of range. */
  createTopic(writer: StorageWriter, name: string, partitions: number, config: Partial<TopicConfig>): Promise<Topic> {
    return writer.run(async (db) => {
      this.checkNewTopic(name, partitions);
      const { rows } = await db.query<{ id: number }>(
        'insert into kafka.topic (name, partitions, config) values ($1, $2, $3) returning id',
        [name, partitions, config],
      );
      const topic: Topic = { id: rows[0]!.id, name, config, partitions: [] };
      addEmptyPartitions(topic, partitions);
      this.topics.set(name, topic);
      return topic;
    });
  }

  checkNewTopic(name: string, partitions: number): void {
    if (!isTopicName(name)) throw new KafkaError(errorCode.invalidTopic, `"${name}" is no name for a topic`);
    if (this.topics.has(name)) throw new KafkaError(errorCode.topicAlreadyExists, `topic ${name} exists`);
    checkPartitions(partitions);
  }

  /** Adds partitions up to `total`. */
  addPartitions(writer: StorageWriter, name: string, total: number): Promise<void> {
    return writer.run(async (db) => {
      const topic = this.checkNewPartitionCount(name, total);
      await db.query('update kafka.topic set partitions = $2 where id = $1', [topic.id, total]);
      addEmptyPartitions(topic, total);
    });
  }

  checkNewPartitionCount(name: string, total: number): Topic {
    const topic = this.topics.get(name);
    if (!topic) throw new KafkaError(errorCode.unknownTopicOrPartition, `there is no topic ${name}`);
    checkPartitions(total);
    if (total <= topic.partitions.length) {
      throw new KafkaError(
        errorCode.invalidPartitions,
        `topic ${name} has ${topic.partitions.length} partitions already`,
      );
    }
    return topic;
  }

  /** Takes the topic away at once, with its committed offsets; its records are swept up later. */
  deleteTopic(writer: StorageWriter, name: string): Promise<void> {
    return writer.run(async (db) => {
      const topic = this.topics.get(name);
      if (!topic) throw new KafkaError(errorCode.unknownTopicOrPartition, `there is no topic ${name}`);
      await inTransaction(db, async () => {
        await db.query('update kafka.topic set deleted = true where id = $1', [topic.id]);
        await db.query('delete from kafka.group_offset where topic_id = $1', [topic.id]);
      });
      this.topics.delete(name);
      topic.partitions.forEach(notifyReaders);
    });
  }
}

/** Letters, digits, dot, underscore and dash, up to 249 of them, as in the real broker. */
export const isTopicName = (name: string): boolean =>
  /^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..';

/** Where the first open transaction begins, or the log's end: what is before is decided. */
export const lastStableOffset = ({ openTransactions: open, logStart, logEnd }: Partition): number => {
  const [first = logEnd] = open.values();
  return Math.max(first, logStart);
};

export const notifyReaders = (partition: Partition): void => partition.waitingReaders.forEach((resume) => resume());

const checkPartitions = (count: number): void => {
  if (count >= 1 && count <= MAX_PARTITIONS) return;
  throw new KafkaError(errorCode.invalidPartitions, `a topic has 1 to ${MAX_PARTITIONS} partitions`);
};

const addEmptyPartitions = (topic: Topic, total: number): void => {
  for (let index = topic.partitions.length; index < total; index += 1)
    topic.partitions.push(emptyPartition(topic, index));
};

const emptyPartition = (topic: Topic, index: number): Partition => ({
  topic,
  index,
  logStart: 0,
  logEnd: 0,
  position: 0,
  maxTimestamp: -1,
  producers: new Map(),
  openTransactions: new Map(),
  lastAbortOffset: -1,
  tail: new Queue(),
  waitingReaders: new Set(),
});

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

// As float8, 64-bit numbers arrive as numbers; all of them are below 2^53.
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
