import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import { startKafka } from '../index.ts';
import { execute } from './database.ts';
import { startProxy } from './database-proxy.ts';
import { RawClient } from './raw-client.ts';

const RECONNECT_MS = 5;

/** A broker that a test can crash. It keeps its port and its data. */
export const startFaultyBroker = async () => {
  const database = await testDatabase();
  const proxy = await startProxy(database.url);
  const port = await freePort();
  const start = () => startKafka({ databaseUrl: proxy.url, port });
  let kafka = await start();
  let client: RawClient | null = null;
  return {
    brokers: kafka.brokers,
    /** Null if the connection was lost before the answer, or could not be opened. */
    ask: async <T>(act: (client: RawClient) => Promise<T>): Promise<T | null> => {
      client ??= await RawClient.connect(kafka.brokers).catch(() => null);
      const connected = client;
      if (!connected) return new Promise((done) => setTimeout(() => done(null), RECONNECT_MS));
      const lost = connected.closed.then(() => {
        if (client === connected) client = null;
        return null;
      });
      return Promise.race([act(connected), lost]);
    },
    /** Ends the session that writes, as a crash of PostgreSQL does. */
    loseSession: () => execute(database.url, END_WRITER_SESSION),
    /** Cuts the broker off its database and replaces it. For the data this is the same as to kill it. */
    crash: async () => {
      proxy.cut();
      await kafka.stop();
      proxy.restore();
      kafka = await start();
    },
    restart: async () => {
      await kafka.stop();
      kafka = await start();
    },
    remove: async () => {
      client?.close();
      await kafka.stop();
      await proxy.stop();
      await database.drop();
    },
  };
};

const END_WRITER_SESSION = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'embedded-kafka' and datname = current_database()`;
