import { startEventStore } from '@cpg/embedded-eventstore';
import { testDatabase } from '@cpg/platform/postgres';
import { jsonEvent } from '@eventstore/db-client';
import { connectEventStore } from './connect.ts';
import { rawEventsOf } from './stream.ts';

test('reads that are left early do not end the connection, however many', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connectEventStore(server.url);
  await client.appendToStream(
    'stream',
    [1, 2, 3].map((n) => jsonEvent({ type: 'Counted', data: { n } })),
  );
  const readFirst = async () => {
    for await (const { event } of rawEventsOf(client, 'stream')) return event!.data;
    return null;
  };
  // A server of Node.js allows 1,000 canceled calls at once, and 33 a second after that.
  for (let round = 0; round < 60; round += 1)
    expect(await Promise.all(Array.from({ length: 32 }, readFirst))).toEqual(Array(32).fill({ n: 1 }));
  await client.dispose();
  await server.stop();
  await database.drop();
});
