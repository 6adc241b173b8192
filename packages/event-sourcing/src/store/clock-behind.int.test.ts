import { startEventStore } from '@cpg/embedded-eventstore';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { DeadlineExceededError, type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { appendOne } from './append.ts';
import { checkEventStore, connectEventStore } from './connect.ts';
import { genesisHash } from './recorded.ts';

const DAY_MS = 24 * 3_600_000;

/** The client computes deadlines by a clock that is behind. */
const setBehind = (client: EventStoreDBClient, ms: number): EventStoreDBClient => {
  const { createDeadline } = client as unknown as { createDeadline: (deadlineMs?: number) => Date };
  const behind = (deadlineMs?: number) => new Date(createDeadline.call(client, deadlineMs).getTime() - ms);
  return Object.assign(client, { createDeadline: behind });
};

test('appends and is ready while its clock is 11 s, or 40 days, behind that of the event store', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const clients: EventStoreDBClient[] = [];
  try {
    for (const behindMs of [11_000, 40 * DAY_MS]) {
      const client = setBehind(connectEventStore(server.url), behindMs);
      clients.push(client);
      const stream = `counted-${behindMs}`;
      const event = { type: 'Counted', data: {} };
      const end = { revision: -1, hash: genesisHash(stream) };
      expect(await appendOne(client, stream, event, end, 'test')).toMatchObject({ revision: 0 });
      await checkEventStore(client);
    }
    // With the deadline that the client sends by default, the server refuses.
    const refused = clients[0]!.appendToStream('counted-late', jsonEvent({ type: 'Counted', data: {} }));
    await expect(refused).rejects.toBeInstanceOf(DeadlineExceededError);
  } finally {
    await Promise.all(clients.map((client) => client.dispose()));
    await server.stop();
    await database.drop();
  }
});
