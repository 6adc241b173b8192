import { ConfigError } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';
import type { Admin } from 'kafkajs';

export interface Replication {
  /** Copies of each message, on as many brokers. */
  readonly replicas: number;
  /** Whether a cluster with fewer brokers may get as many replicas as it has brokers. */
  readonly allowFewer: boolean;
}

/** How many replicas new topics get. Throws ConfigError when the cluster has too few brokers and `allowFewer` is not
 *  set: a topic with too few replicas loses messages with the disk of one broker. */
export const replicasFor = async (admin: Admin, { replicas, allowFewer }: Replication): Promise<number> => {
  const { brokers } = await admin.describeCluster();
  if (brokers.length >= replicas) return replicas;
  if (allowFewer) return brokers.length;
  throw new ConfigError(
    `new topics need ${replicas} replicas, but Kafka has ${brokers.length} broker${brokers.length === 1 ? '' : 's'}: ` +
      'add brokers, lower KAFKA_REPLICATION, or set KAFKA_ALLOW_FEWER_REPLICAS=true',
  );
};

/** A write needs all replicas but one, so that one broker can fail or restart. Empty for a topic with one replica. */
export const writeSettings = (replicas: number): { name: string; value: string }[] =>
  replicas > 1 ? [{ name: 'min.insync.replicas', value: String(replicas - 1) }] : [];

/** Logs existing topics with fewer replicas than configured. Only the operator can add replicas to them. */
export const reportFewerReplicas = async (
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
