import { deadLetterTopicOf } from '@cpg/contracts';
import type { Kafka } from 'kafkajs';
import { updateRetention } from './retention.ts';

export interface TopicSettings {
  readonly partitions: number;
  readonly replication: number;
  /** Days for which messages are kept. Dead letters are kept for ever. Default: 30. */
  readonly retentionDays?: number;
}

/** Creates missing topics, each with a dead-letter topic of one partition. Existing topics keep their settings, except
 *  for the retention, which is updated where the broker allows it. */
export const ensureTopics = async (
  kafka: Kafka,
  names: readonly string[],
  { partitions, replication, retentionDays = DEFAULT_RETENTION_DAYS }: TopicSettings,
): Promise<void> => {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const wanted = names.flatMap((name) => [
      { topic: name, numPartitions: partitions, retentionMs: String(retentionDays * DAY_MS) },
      { topic: deadLetterTopicOf(name), numPartitions: 1, retentionMs: NO_LIMIT },
    ]);
    const topics = wanted
      .filter(({ topic }) => !existing.has(topic))
      .map(({ retentionMs, ...topic }) => ({
        ...topic,
        replicationFactor: replication,
        configEntries: [{ name: 'retention.ms', value: retentionMs }],
      }));
    if (topics.length > 0) await admin.createTopics({ topics, waitForLeaders: true });
    await updateRetention(
      admin,
      wanted.filter(({ topic }) => existing.has(topic)),
    );
  } finally {
    await admin.disconnect();
  }
};

const DEFAULT_RETENTION_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const NO_LIMIT = '-1';
