import { readFileSync } from 'node:fs';
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import { ConfigError } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';
import type { Dependency } from '../outages/outages.ts';

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
  [logLevel.NOTHING]: 'trace',
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
        const name = isExpected ? 'debug' : LOG_LEVELS[level];
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

/** The name of Kafka in outages. */
export const KAFKA = 'kafka';

/** Whether an error of kafkajs means that Kafka is unavailable. */
const isKafkaOutage = (error: unknown): boolean => {
  if (!(error instanceof Error) || !error.name.startsWith('KafkaJS')) return false;
  // This error is not retriable itself: its cause tells.
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return isKafkaOutage(error.cause);
  return (error as { retriable?: boolean }).retriable === true || isLostAuthentication(error);
};

// kafkajs does not retry an authentication that ended with its connection.
const isLostAuthentication = ({ name, message }: Error): boolean =>
  name === SASL_ERROR && CONNECTION_TROUBLE.test(message);

/** How `Outages` recognizes an outage of Kafka, and its end. */
export const kafkaDependency = (kafka: Kafka): Dependency => ({
  owns: (error) => isKafkaOutage(error) || explainKafkaError(error) !== null,
  check: async () => {
    const admin = kafka.admin({ retry: { retries: 0 } });
    try {
      await admin.connect();
    } catch (error) {
      throw explainKafkaError(error) ?? error;
    } finally {
      await admin.disconnect();
    }
  },
});

/** The outage that a log line of kafkajs is about; undefined if it is about something else. */
const outageInLine = (message: string, error: unknown): Error | undefined => {
  const text = [message, error].filter((part) => typeof part === 'string').join(': ');
  if (!CONNECTION_TROUBLE.test(text) && !/SASL/i.test(text)) return undefined;
  return Object.assign(new Error(text), { name: 'KafkaJSConnectionError', retriable: true });
};

/** Any failure during an authentication, also that of the connection. */
const SASL_ERROR = 'KafkaJSSASLAuthenticationError';
const CONNECTION_TROUBLE =
  /Connection (error|timeout)|Failed to connect|Closed connection|connection closed|timed out|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|coordinator is not available|There is no leader/i;

/** The setting that makes Kafka refuse a connection, and how to correct it; null for any other error. Names no user and
 *  no host. */
const explainKafkaError = (error: unknown): ConfigError | null => {
  if (!(error instanceof Error)) return null;
  const sentence = sentenceFor(error);
  return sentence === null ? explainKafkaError(error.cause) : new ConfigError(sentence, { cause: error });
};

const sentenceFor = ({ name, message, type }: Error & { type?: unknown }): string | null => {
  if (type === 'UNSUPPORTED_SASL_MECHANISM' || /mechanism is not supported/.test(message))
    return 'Kafka refuses the mechanism in KAFKA_SASL_MECHANISM: set one that the listener in KAFKA_BROKERS enables, or enable it in Kafka';
  if (type === 'ILLEGAL_SASL_STATE')
    return 'the listener in KAFKA_BROKERS has no SASL: use the address of a listener with SASL, or remove KAFKA_SASL_MECHANISM';
  if (type === 'SASL_AUTHENTICATION_FAILED' || (name === SASL_ERROR && !CONNECTION_TROUBLE.test(message)))
    return 'Kafka refuses the user or its password: correct KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD, or set the password in Kafka';
  return null;
};
