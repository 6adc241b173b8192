import type { Dependency } from '@cpg/runtime';
import type { Kafka } from 'kafkajs';

/** The name of Kafka in outages. */
export const KAFKA = 'kafka';

/** Whether an error of kafkajs means that Kafka is unavailable. A refusal, such as a wrong password, is none. */
const isKafkaOutage = (error: unknown): boolean => {
  if (!(error instanceof Error) || !error.name.startsWith('KafkaJS')) return false;
  // This error is not retriable itself: its cause tells.
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return isKafkaOutage(error.cause);
  return (error as { retriable?: boolean }).retriable === true;
};

/** How `Outages` recognizes an outage of Kafka, and its end. */
export const kafkaDependency = (kafka: Kafka): Dependency => ({
  owns: isKafkaOutage,
  check: async () => {
    const admin = kafka.admin({ retry: { retries: 0 } });
    try {
      await admin.connect();
    } finally {
      await admin.disconnect();
    }
  },
});

const CONNECTION_TROUBLE =
  /Connection (error|timeout)|Failed to connect|Closed connection|connection closed|timed out|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|coordinator is not available|There is no leader/i;

/** The outage that a log line of kafkajs is about; undefined if it is about something else. */
export const outageInLine = (message: string, error: unknown): Error | undefined => {
  const text = [message, error].filter((part) => typeof part === 'string').join(': ');
  if (!CONNECTION_TROUBLE.test(text)) return undefined;
  return Object.assign(new Error(text), { name: 'KafkaJSConnectionError', retriable: true });
};
