import { startKafka } from '@cpg/embedded-kafka';
import { testDatabase } from '@cpg/postgres';

/** The broker under test: the one at KAFKA_BROKERS, or an embedded broker with a database of its own. */
export const startBroker = async (): Promise<{ brokers: string; stop: () => Promise<void> }> => {
  const { KAFKA_BROKERS } = process.env;
  if (KAFKA_BROKERS) return { brokers: KAFKA_BROKERS, stop: async () => {} };
  const database = await testDatabase();
  const server = await startKafka({ databaseUrl: database.url, port: 0 });
  return {
    brokers: server.brokers,
    stop: async () => {
      await server.stop();
      await database.drop();
    },
  };
};
