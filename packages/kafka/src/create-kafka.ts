import { readFileSync } from 'node:fs';
import type { Logger } from '@cpg/runtime';
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';

export interface KafkaConnectionConfig {
  readonly KAFKA_BROKERS: string[];
  readonly KAFKA_TLS?: boolean;
  readonly KAFKA_TLS_CA_FILE?: string | undefined;
  readonly KAFKA_SASL_MECHANISM?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined;
  readonly KAFKA_SASL_USERNAME?: string | undefined;
  readonly KAFKA_SASL_PASSWORD?: string | undefined;
}

const LEVELS = {
  [logLevel.ERROR]: 'warn',
  [logLevel.WARN]: 'debug',
  [logLevel.INFO]: 'debug',
  [logLevel.DEBUG]: 'trace',
} as const;

/** A client of the brokers in the environment. It connects when it is first used, and again whenever it must. */
export const createKafka = (
  address: KafkaConnectionConfig,
  { clientId, log }: { clientId: string; log: Logger },
): Kafka =>
  new Kafka({
    clientId,
    brokers: address.KAFKA_BROKERS,
    ssl: address.KAFKA_TLS
      ? address.KAFKA_TLS_CA_FILE
        ? { ca: readFileSync(address.KAFKA_TLS_CA_FILE, 'utf8') }
        : true
      : false,
    ...(address.KAFKA_SASL_MECHANISM && {
      sasl: {
        mechanism: address.KAFKA_SASL_MECHANISM,
        username: address.KAFKA_SASL_USERNAME ?? '',
        password: address.KAFKA_SASL_PASSWORD ?? '',
      } as SASLOptions,
    }),
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: { initialRetryTime: 50, maxRetryTime: 2_000, retries: 10 },
    logCreator:
      () =>
      ({ level, log: { message, error, topic, groupId } }) => {
        const name = LEVELS[level as keyof typeof LEVELS] ?? 'trace';
        log[name](
          { kafka: { message, error: error as unknown, topic: topic as unknown, groupId: groupId as unknown } },
          'kafka client',
        );
      },
  });
