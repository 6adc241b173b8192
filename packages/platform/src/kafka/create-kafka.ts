import { readFileSync } from 'node:fs';
import type { Logger } from '../log/logger.ts';
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import { outageInLine } from './outage.ts';

export interface KafkaConnectionConfig {
  readonly KAFKA_BROKERS: string[];
  readonly KAFKA_TLS?: boolean;
  readonly KAFKA_TLS_CA_FILE?: string | undefined;
  readonly KAFKA_SASL_MECHANISM?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined;
  readonly KAFKA_SASL_USERNAME?: string | undefined;
  readonly KAFKA_SASL_PASSWORD?: string | undefined;
}

// Errors of kafkajs are warnings here: kafkajs retries, and a consumer that crashes logs its own error.
const LOG_LEVELS = {
  [logLevel.ERROR]: 'warn',
  [logLevel.WARN]: 'debug',
  [logLevel.INFO]: 'debug',
  [logLevel.DEBUG]: 'trace',
} as const;

// `consume` logs the same crash with its error.
const REPEATED = /^(Crash: |Restarting the consumer)/;

// Apache Kafka refuses a transaction until it has written the markers of the previous one. kafkajs sends it again.
const PREVIOUS_TRANSACTION = /another concurrent operation on the same transaction/;

/** Creates a Kafka client. It connects on first use and reconnects after failures. */
export const createKafka = (
  config: KafkaConnectionConfig,
  { clientId, log }: { clientId: string; log: Logger },
): Kafka =>
  new Kafka({
    clientId,
    brokers: config.KAFKA_BROKERS,
    ssl: config.KAFKA_TLS
      ? config.KAFKA_TLS_CA_FILE
        ? { ca: readFileSync(config.KAFKA_TLS_CA_FILE, 'utf8') }
        : true
      : false,
    ...(config.KAFKA_SASL_MECHANISM && {
      sasl: {
        mechanism: config.KAFKA_SASL_MECHANISM,
        username: config.KAFKA_SASL_USERNAME ?? '',
        password: config.KAFKA_SASL_PASSWORD ?? '',
      } as SASLOptions,
    }),
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: { initialRetryTime: 50, maxRetryTime: 2_000, retries: 10 },
    logCreator:
      () =>
      ({ level, log: { message, error, topic, groupId } }) => {
        const isExpected = REPEATED.test(message) || PREVIOUS_TRANSACTION.test(`${message} ${String(error)}`);
        const name = isExpected ? 'debug' : (LOG_LEVELS[level as keyof typeof LOG_LEVELS] ?? 'trace');
        const err = level === logLevel.ERROR ? outageInLine(message, error) : undefined;
        log[name](
          {
            ...(err && { err }),
            kafka: { message, error: error as unknown, topic: topic as unknown, groupId: groupId as unknown },
          },
          'kafka client',
        );
      },
  });
