import { startEventStore } from '@cpg/embedded-eventstore';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { connectEventStore } from '../store/connect.ts';

/** Starts an event store on a database of its own, with a client. `stop` ends all three. */
export const startTestStore = async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connectEventStore(server.url);
  return {
    client,
    url: server.url,
    stop: async (): Promise<void> => {
      await client.dispose();
      await server.stop();
      await database.drop();
    },
  };
};
