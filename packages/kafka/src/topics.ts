import { deadLetterTopicOf } from '@cpg/contracts';
import type { Kafka } from 'kafkajs';

export interface TopicSettings {
  readonly partitions: number;
  readonly replication: number;
}

/** Creates missing topics, each with a dead-letter topic of one partition. Existing topics keep their settings. */
export const ensureTopics = async (
  kafka: Kafka,
  names: readonly string[],
  { partitions, replication }: TopicSettings,
): Promise<void> => {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const wanted = names.flatMap((name) => [
      { topic: name, numPartitions: partitions },
      { topic: deadLetterTopicOf(name), numPartitions: 1 },
    ]);
    const topics = wanted
      .filter(({ topic }) => !existing.has(topic))
      .map((topic) => ({ ...topic, replicationFactor: replication }));
    if (topics.length > 0) await admin.createTopics({ topics, waitForLeaders: true });
  } finally {
    await admin.disconnect();
  }
};
