import { freePort } from '@cpg/ports';
// By path: the engine depends on this package, and packages must not depend on each other.
import { startKafka } from '../../../../engines/embedded-kafka/src/index.ts';
import { testDatabase } from '../../postgres/testing/database.ts';

/** The broker under test: the one at KAFKA_BROKERS, or an embedded broker with a database of its own. */
export const startBroker = async (): Promise<{ brokers: string; stop: () => Promise<void> }> => {
  const { KAFKA_BROKERS } = process.env;
  if (KAFKA_BROKERS) return { brokers: KAFKA_BROKERS, stop: async () => {} };
  const { brokers, remove } = await startEmbeddedBroker();
  return { brokers, stop: remove };
};

/** An embedded broker with a database of its own. It keeps its port and its data when it stops and starts again. */
export const startEmbeddedBroker = async () => {
  const database = await testDatabase();
  const [databaseUrl, port] = [database.url, await freePort()];
  let server = await startKafka({ databaseUrl, port });
  const stop = () => server.stop();
  return {
    brokers: server.brokers,
    stop,
    start: async () => {
      server = await startKafka({ databaseUrl, port });
    },
    /** Stops it and deletes its data. */
    remove: async () => {
      await stop();
      await database.drop();
    },
  };
};
