import { KafkaError, errorCode } from '../errors.ts';
import type { Catalogue } from './catalogue.ts';
import { type Topic, emptyPartition } from './partition.ts';
import { type StorageWriter, inTransaction } from './storage-writer.ts';
import type { TopicConfig } from './topic-config.ts';

const MAX_PARTITIONS = 10_000;

/** Creates, extends and deletes topics. Each change is committed before the catalogue shows it. */
export class TopicStore {
  private readonly writer: StorageWriter;
  private readonly catalogue: Catalogue;

  constructor(writer: StorageWriter, catalogue: Catalogue) {
    this.writer = writer;
    this.catalogue = catalogue;
  }

  /** Throws KafkaError if the name is invalid or taken, or if the partition count is out of range. */
  create(name: string, partitions: number, config: Partial<TopicConfig>): Promise<Topic> {
    return this.writer.run(async (db) => {
      this.checkNewTopic(name, partitions);
      const { rows } = await db.query<{ id: number }>(
        'insert into kafka.topic (name, partitions, config) values ($1, $2, $3) returning id',
        [name, partitions, config],
      );
      const topic: Topic = { id: rows[0]!.id, name, config, partitions: [] };
      addEmptyPartitions(topic, partitions);
      this.catalogue.addTopic(topic);
      return topic;
    });
  }

  /** Throws what `create` would throw for these arguments. */
  checkNewTopic(name: string, partitions: number): void {
    if (!isTopicName(name)) throw new KafkaError(errorCode.invalidTopic, `"${name}" is not a valid topic name`);
    if (this.catalogue.topic(name)) throw new KafkaError(errorCode.topicAlreadyExists, `topic ${name} already exists`);
    const collision = this.catalogue.allTopics().find((topic) => metricName(topic.name) === metricName(name));
    if (collision) throw new KafkaError(errorCode.invalidTopic, `topic ${name} collides with ${collision.name}`);
    checkPartitionCount(partitions);
  }

  /** Replaces the settings. */
  setConfig(name: string, config: Partial<TopicConfig>): Promise<void> {
    return this.writer.run(async (db) => {
      const topic = this.requireTopic(name);
      await db.query('update kafka.topic set config = $2 where id = $1', [topic.id, config]);
      topic.config = config;
    });
  }

  /** Adds partitions until the topic has `total`. */
  addPartitions(name: string, total: number): Promise<void> {
    return this.writer.run(async (db) => {
      const topic = this.checkNewPartitionCount(name, total);
      await db.query('update kafka.topic set partitions = $2 where id = $1', [topic.id, total]);
      addEmptyPartitions(topic, total);
    });
  }

  /** Throws what `addPartitions` would throw for these arguments. */
  checkNewPartitionCount(name: string, total: number): Topic {
    const topic = this.requireTopic(name);
    checkPartitionCount(total);
    if (total <= topic.partitions.length) {
      const message = `topic ${name} already has ${topic.partitions.length} partitions`;
      throw new KafkaError(errorCode.invalidPartitions, message);
    }
    return topic;
  }

  /** Deletes the topic and its committed offsets. The next cleanup deletes its records. */
  delete(name: string): Promise<void> {
    return this.writer.run(async (db) => {
      const topic = this.requireTopic(name);
      await inTransaction(db, async () => {
        await db.query('update kafka.topic set deleted = true where id = $1', [topic.id]);
        await db.query('delete from kafka.group_offset where topic_id = $1', [topic.id]);
      });
      this.catalogue.removeTopic(topic);
    });
  }

  /** Throws KafkaError(unknownTopicOrPartition) if the topic does not exist. */
  requireTopic(name: string): Topic {
    const topic = this.catalogue.topic(name);
    if (!topic) throw new KafkaError(errorCode.unknownTopicOrPartition, `topic ${name} does not exist`);
    return topic;
  }
}

/** Letters, digits, dots, underscores and dashes, up to 249 of them. Source: Apache Kafka, Topic.java. */
const isTopicName = (name: string): boolean => /^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..';

/** Apache Kafka refuses topics whose names differ in dots and underscores only: metrics would confuse them. */
const metricName = (name: string): string => name.replaceAll('.', '_');

const checkPartitionCount = (count: number): void => {
  if (count >= 1 && count <= MAX_PARTITIONS) return;
  throw new KafkaError(errorCode.invalidPartitions, `a topic has 1 to ${MAX_PARTITIONS} partitions`);
};

const addEmptyPartitions = (topic: Topic, total: number): void => {
  for (let index = topic.partitions.length; index < total; index += 1)
    topic.partitions.push(emptyPartition(topic, index));
};
