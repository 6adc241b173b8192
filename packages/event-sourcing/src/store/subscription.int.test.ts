import { startEventStore } from '@cpg/embedded-eventstore';
import { freePort } from '@cpg/ports';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger } from '@cpg/platform';
import { jsonEvent } from '@eventstore/db-client';
import { connectEventStore } from './connect.ts';
import { startTestStore } from '../testing/jest-event-store.ts';
import { until } from '../testing/jest-until.ts';
import type { LogPosition } from './recorded.ts';
import { runSubscription } from './subscription.ts';

const log = createLogger({ name: 'test', level: 'silent' });

test('delivers every event once and in order although the handler fails and the server restarts', async () => {
  const database = await testDatabase();
  const port = await freePort();
  let server = await startEventStore({ databaseUrl: database.url, port });
  const client = connectEventStore(server.url);
  const stopping = new AbortController();
  const seen: number[] = [];
  let checkpoint: LogPosition | null = null;
  let failures = 2;
  const running = runSubscription({
    client,
    prefixes: ['seen-'],
    checkpoint: async () => checkpoint,
    signal: stopping.signal,
    log,
    handle: async (events, position) => {
      if (seen.length > 20 && failures > 0) {
        failures -= 1;
        throw new Error('not this time');
      }
      seen.push(...events.map(({ event }) => (event!.data as { n: number }).n));
      checkpoint = position;
    },
  });
  const write = (n: number) => {
    const event = jsonEvent({ type: 'Numbered', data: { n } });
    const append = () => client.appendToStream(`${n % 3 === 0 ? 'unseen' : 'seen'}-${n % 5}`, event);
    return until(() => append().catch(() => false));
  };
  for (let n = 0; n < 200; n += 1) {
    await write(n);
    if (n === 100) {
      await server.stop();
      server = await startEventStore({ databaseUrl: database.url, port });
    }
  }
  const expected = Array.from({ length: 200 }, (_, n) => n).filter((n) => n % 3 !== 0);
  await until(() => seen.length >= expected.length);
  stopping.abort();
  await running;
  expect(seen).toEqual(expected);
  expect(failures).toBe(0);
  await client.dispose();
  await server.stop();
  await database.drop();
});

test('ends when it is stopped while it loads the checkpoint', async () => {
  const { client, stop } = await startTestStore();
  const stopping = new AbortController();
  let handled = 0;
  await client.appendToStream('seen-1', jsonEvent({ type: 'Numbered', data: { n: 1 } }));
  await runSubscription({
    client,
    prefixes: ['seen-'],
    checkpoint: async () => {
      stopping.abort();
      return null;
    },
    signal: stopping.signal,
    log,
    handle: async (events) => void (handled += events.length),
  });
  expect(handled).toBe(0);
  await stop();
});
