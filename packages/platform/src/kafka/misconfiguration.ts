import { ConfigError } from '../config/config.ts';

/** Any failure during an authentication, also that of the connection. */
export const SASL_ERROR = 'KafkaJSSASLAuthenticationError';
export const CONNECTION_TROUBLE =
  /Connection (error|timeout)|Failed to connect|Closed connection|connection closed|timed out|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|coordinator is not available|There is no leader/i;

/** The setting that makes Kafka refuse a connection, and how to correct it; null for any other error. Names no user and
 *  no host. */
export const explainKafkaError = (error: unknown): ConfigError | null => {
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
