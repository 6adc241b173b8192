import { deadLetterTopicOf } from '@cpg/contracts';
import type { Kafka } from 'kafkajs';

export interface TopicSettings {
  readonly partitions: number;
  readonly replication: number;
}

/** Makes the topics that are missing, each with its dead-letter topic. Those that are there keep their settings. */
export const ensureTopics = async (
  kafka: Kafka,
  names: readonly string[],
  { partitions, replication }: TopicSettings,
): Promise<void> => {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const there = new Set(await admin.listTopics());
    const wanted = names.flatMap((name) => [
      { topic: name, numPartitions: partitions },
      { topic: deadLetterTopicOf(name), numPartitions: 1 },
    ]);
    const topics = wanted
      .filter(({ topic }) => !there.has(topic))
      .map((topic) => ({ ...topic, replicationFactor: replication }));
    if (topics.length > 0) await admin.createTopics({ topics, waitForLeaders: true });
  } finally {
    await admin.disconnect();
  }
};
