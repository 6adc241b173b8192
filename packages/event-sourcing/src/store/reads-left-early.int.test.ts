import { setTimeout as sleep } from 'node:timers/promises';
import { startEventStore } from '@cpg/embedded-eventstore';
import { testDatabase } from '@cpg/platform/postgres';
import { jsonEvent } from '@eventstore/db-client';
import { connectEventStore } from './connect.ts';
import { rawEventsOf } from './stream.ts';

// The counts leave the rest of the stream in different buffers, some after the server has sent everything.
test.each([2, 33, 200])('a read of %i events that its caller leaves early keeps no call open', async (count) => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connectEventStore(server.url);
  await client.appendToStream(
    'stream',
    Array.from({ length: count }, () => jsonEvent({ type: 'Counted', data: {} })),
  );
  for (const lingerMs of [0, 50]) {
    for await (const _ of rawEventsOf(client, 'stream')) {
      await sleep(lingerMs);
      break;
    }
  }
  await client.dispose(); // waits for each call
  await server.stop();
  await database.drop();
});
