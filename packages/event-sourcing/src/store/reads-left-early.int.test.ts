import { setTimeout as sleep } from 'node:timers/promises';
import { jsonEvent } from '@eventstore/db-client';
import { rawEventsOf } from './stream.ts';
import { startTestStore } from '../testing/jest-event-store.ts';

// The counts leave the rest of the stream in different buffers, some after the server has sent everything.
test.each([2, 33, 200])('a read of %i events that its caller leaves early keeps no call open', async (count) => {
  const { client, stop } = await startTestStore();
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
  await stop(); // waits for each call
});
