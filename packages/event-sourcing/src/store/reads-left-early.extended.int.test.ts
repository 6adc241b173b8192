import { jsonEvent } from '@eventstore/db-client';
import { rawEventsOf } from './stream.ts';
import { startTestStore } from '../testing/jest-event-store.ts';

test('reads that are left early do not end the connection, however many', async () => {
  const { client, stop } = await startTestStore();
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
  await stop();
});
