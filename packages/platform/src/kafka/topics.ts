import { deadLetterTopicOf } from '@cpg/contracts';
import type { Admin, ConfigResourceTypes, Kafka, KafkaJSError } from 'kafkajs';
import { ConfigError } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';

export interface TopicSettings {
  readonly partitions: number;
  readonly replication: number;
  /** Whether topics get fewer replicas when the cluster has fewer brokers than `replication`. Default: false. */
  readonly allowFewerReplicas?: boolean;
  /** Days for which messages and dead letters are kept: both hold contents of orders that are deleted meanwhile.
   *  Default: 30. */
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

interface Replication {
  /** Copies of each message, on as many brokers. */
  readonly replicas: number;
  /** Whether a cluster with fewer brokers may get as many replicas as it has brokers. */
  readonly allowFewer: boolean;
}

/** How many replicas new topics get. Throws ConfigError when the cluster has too few brokers and `allowFewer` is not
 *  set: a topic with too few replicas loses messages with the disk of one broker. */
const replicasFor = async (admin: Admin, { replicas, allowFewer }: Replication): Promise<number> => {
  const { brokers } = await admin.describeCluster();
  if (brokers.length >= replicas) return replicas;
  if (allowFewer) return brokers.length;
  throw new ConfigError(
    `new topics need ${replicas} replicas, but Kafka has ${brokers.length} broker${brokers.length === 1 ? '' : 's'}: ` +
      'add brokers, lower KAFKA_REPLICATION, or set KAFKA_ALLOW_FEWER_REPLICAS=true',
  );
};

/** A write needs all replicas but one, so that one broker can fail or restart. Empty for a topic with one replica. */
const writeSettings = (replicas: number): { name: string; value: string }[] =>
  replicas > 1 ? [{ name: 'min.insync.replicas', value: String(replicas - 1) }] : [];

/** Logs existing topics with fewer replicas than configured. Only the operator can add replicas to them. */
const reportFewerReplicas = async (
  admin: Admin,
  { topics, replicas, log }: { topics: readonly string[]; replicas: number; log: Logger },
): Promise<void> => {
  if (replicas === 1 || topics.length === 0) return;
  const metadata = await admin.fetchTopicMetadata({ topics: [...topics] });
  for (const { name, partitions } of metadata.topics) {
    const fewest = Math.min(...partitions.map((partition) => partition.replicas.length));
    if (fewest < replicas) {
      log.error(
        { topic: name, replicas: fewest, configured: replicas },
        'topic has fewer replicas than KAFKA_REPLICATION: add replicas with kafka-reassign-partitions',
      );
    }
  }
};

const RETENTION = 'retention.ms';

// The enum of kafkajs, which is not a named export for ES modules.
const TOPIC: ConfigResourceTypes.TOPIC = 2;

// `config_source` of a setting that was made for the topic itself. Source: Apache Kafka, DescribeConfigsResponse.
const SET_ON_TOPIC = 1;

/** Sets the retention of existing topics where it differs. Topics keep the setting they have when the broker cannot
 *  change it, or refuses that to this user. */
export const updateRetention = async (
  admin: Admin,
  topics: ReadonlyArray<{ readonly topic: string; readonly retentionMs: string }>,
): Promise<void> => {
  if (topics.length === 0) return;
  const type = TOPIC;
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map(({ topic: name }) => ({ type, name })),
    });
    const outdated = topics.flatMap(({ topic: name, retentionMs }) => {
      const settings = resources.find((resource) => resource.resourceName === name)?.configEntries ?? [];
      if (settings.find(({ configName }) => configName === RETENTION)?.configValue === retentionMs) return [];
      // AlterConfigs removes every setting that it does not list.
      const others = settings.filter(
        ({ configName, configSource }) => Number(configSource) === SET_ON_TOPIC && configName !== RETENTION,
      );
      const kept = others.map(({ configName, configValue }) => ({ name: configName, value: configValue }));
      return [{ type, name, configEntries: [...kept, { name: RETENTION, value: retentionMs }] }];
    });
    if (outdated.length > 0) await admin.alterConfigs({ validateOnly: false, resources: outdated });
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
};

// A broker with ACLs may refuse both requests to the services; brokers before Kafka 0.11 have neither.
const REFUSALS = new Set(['UNSUPPORTED_VERSION', 'CLUSTER_AUTHORIZATION_FAILED', 'TOPIC_AUTHORIZATION_FAILED']);

const isRefusal = (error: unknown): boolean => {
  const { name, type = '' } = error as Partial<KafkaJSError> & { type?: string };
  return name === 'KafkaJSServerDoesNotSupportApiKey' || REFUSALS.has(type);
};
