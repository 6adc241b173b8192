import type { Dependency } from '../outages/outage.ts';
import type { Kafka } from 'kafkajs';
import { CONNECTION_TROUBLE, explainKafkaError, SASL_ERROR } from './misconfiguration.ts';

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
export const outageInLine = (message: string, error: unknown): Error | undefined => {
  const text = [message, error].filter((part) => typeof part === 'string').join(': ');
  if (!CONNECTION_TROUBLE.test(text) && !/SASL/i.test(text)) return undefined;
  return Object.assign(new Error(text), { name: 'KafkaJSConnectionError', retriable: true });
};
