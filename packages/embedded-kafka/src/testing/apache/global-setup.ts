import { appendFileSync } from 'node:fs';
import type { BrokerProcess } from '../broker-process.ts';
import { NoApacheKafka } from './jars.ts';
import { startApacheKafka } from './server.ts';

/** Starts the one real broker that the conformance tests share, or says why they are skipped. */
export default async (): Promise<void> => {
  try {
    const broker = await startApacheKafka();
    process.env.APACHE_KAFKA_BROKERS = broker.brokers;
    (globalThis as { apacheKafka?: BrokerProcess }).apacheKafka = broker;
  } catch (error) {
    if (!(error instanceof NoApacheKafka)) throw error;
    const reason = `the tests against Apache Kafka are skipped: ${error.message}`;
    process.stderr.write(`${reason}\n`);
    if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
  }
};
