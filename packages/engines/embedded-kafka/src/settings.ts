import { NO_LIMIT, type TopicConfig } from './storage/topic-config.ts';

export interface Settings {
  /** Whether metadata requests create missing topics, with `defaultPartitions` partitions. */
  readonly autoCreateTopics: boolean;
  readonly defaultPartitions: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly maxTransactionTimeoutMs: number;
  /** Interval of the check for transactions past their timeout. */
  readonly transactionCheckMs: number;
  /** A larger request closes its connection. */
  readonly maxRequestBytes: number;
  /** Memory for requests of which only a part has arrived, of all connections together. */
  readonly maxPartialRequestBytes: number;
  /** Memory for the newest batches of all partitions together. */
  readonly tailCacheBytes: number;
  /** How long the start waits for the writer lock while another broker holds it. */
  readonly lockWaitMs: number;
  /** Interval of the retention runs. */
  readonly cleanupIntervalMs: number;
  /** Time from a request that deletes records to the run that removes their rows. */
  readonly cleanupDelayMs: number;
  /** For topics without a setting of their own. */
  readonly topicDefaults: TopicConfig;
}

/** The defaults of Apache Kafka. The first rebalance of a group starts at once, though: there is no initial delay. */
export const DEFAULT_SETTINGS: Settings = {
  autoCreateTopics: true,
  defaultPartitions: 1,
  minSessionTimeoutMs: 6_000,
  maxSessionTimeoutMs: 1_800_000,
  maxTransactionTimeoutMs: 900_000,
  transactionCheckMs: 1_000,
  maxRequestBytes: 100 * 1024 * 1024,
  maxPartialRequestBytes: 256 * 1024 * 1024,
  tailCacheBytes: 64 * 1024 * 1024,
  lockWaitMs: 10_000,
  cleanupIntervalMs: 60_000,
  cleanupDelayMs: 1_000,
  topicDefaults: {
    'retention.ms': 7 * 86_400_000,
    'retention.bytes': -1,
    'max.message.bytes': 1_048_588,
    'message.timestamp.before.max.ms': NO_LIMIT,
    'message.timestamp.after.max.ms': 3_600_000,
    'min.insync.replicas': 1,
    'segment.ms': 7 * 86_400_000,
    'segment.bytes': 1_073_741_824,
  },
};
