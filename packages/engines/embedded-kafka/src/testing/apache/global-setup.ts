import type { BrokerProcess } from '../broker-process.ts';
import { reportSkipped } from './report-skipped.ts';
import { startApacheKafka } from './server.ts';

/** Starts one Apache Kafka for all conformance tests, or reports why they are skipped. */
export default async (): Promise<void> => {
  try {
    const broker = await startApacheKafka();
    process.env.APACHE_KAFKA_BROKERS = broker.brokers;
    (globalThis as { apacheKafka?: BrokerProcess }).apacheKafka = broker;
  } catch (error) {
    reportSkipped('the tests against Apache Kafka', error);
  }
};
