import { deadLetterTopicOf } from '@cpg/contracts';
import type { Logger } from '../log/logger.ts';
import type { Kafka } from 'kafkajs';
import { replicasFor, reportFewerReplicas, writeSettings } from './replication.ts';
import { updateRetention } from './retention.ts';

export interface TopicSettings {
  readonly partitions: number;
  readonly replication: number;
  /** Whether topics get fewer replicas when the cluster has fewer brokers than `replication`. Default: false. */
  readonly allowFewerReplicas?: boolean;
  /** Days for which messages and dead letters are kept: both hold contents of orders that are deleted meanwhile. Default: 30. */
  readonly retentionDays?: number;
}

/** The variables that become TopicSettings. */
export interface TopicConfig {
  readonly ENVIRONMENT: 'sandbox' | 'production';
  readonly KAFKA_PARTITIONS: number;
  readonly KAFKA_REPLICATION?: number | undefined;
  readonly KAFKA_ALLOW_FEWER_REPLICAS: boolean;
  readonly KAFKA_RETENTION_DAYS: number;
}

export const topicSettingsOf = (config: TopicConfig): TopicSettings => ({
  partitions: config.KAFKA_PARTITIONS,
  replication: config.KAFKA_REPLICATION ?? (config.ENVIRONMENT === 'production' ? 3 : 1),
  allowFewerReplicas: config.KAFKA_ALLOW_FEWER_REPLICAS,
  retentionDays: config.KAFKA_RETENTION_DAYS,
});

/** Creates missing topics, each with a dead-letter topic of one partition. Existing topics keep their settings, except
 *  for the retention, which is updated where the broker allows it. Throws ConfigError, and creates nothing, when the
 *  cluster has too few brokers for the replicas. */
export const ensureTopics = async (
  kafka: Kafka,
  names: readonly string[],
  settings: TopicSettings,
  log?: Logger,
): Promise<void> => {
  const { partitions, replication, allowFewerReplicas = false, retentionDays = DEFAULT_RETENTION_DAYS } = settings;
  const admin = kafka.admin();
  await admin.connect();
  try {
    const listed = new Set(await admin.listTopics());
    const retentionMs = String(retentionDays * DAY_MS);
    const wanted = names.flatMap((name) => [
      { topic: name, numPartitions: partitions, retentionMs },
      { topic: deadLetterTopicOf(name), numPartitions: 1, retentionMs },
    ]);
    const [existing, missing] = [true, false].map((exists) =>
      wanted.filter(({ topic }) => listed.has(topic) === exists),
    );
    if (missing!.length > 0) {
      const replicas = await replicasFor(admin, { replicas: replication, allowFewer: allowFewerReplicas });
      const topics = missing!.map(({ topic, numPartitions }) => ({
        topic,
        numPartitions,
        replicationFactor: replicas,
        configEntries: [{ name: 'retention.ms', value: retentionMs }, ...writeSettings(replicas)],
      }));
      await admin.createTopics({ topics, waitForLeaders: true });
    }
    await updateRetention(admin, existing!);
    if (log) {
      const topics = existing!.map(({ topic }) => topic);
      await reportFewerReplicas(admin, { topics, replicas: replication, log });
    }
  } finally {
    await admin.disconnect();
  }
};

const DEFAULT_RETENTION_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
