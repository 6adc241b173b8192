import { setTimeout as sleep } from 'node:timers/promises';
import { startEventStore } from '@cpg/embedded-eventstore';
import { connectEventStore } from '@cpg/event-store';
import { testDatabase } from '@cpg/postgres';
import { createLogger } from '@cpg/runtime';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { followLog } from './follow-log.ts';
import { startProjection } from './projection.ts';
import { startTallies } from './testing/jest-tallies.ts';

const log = createLogger({ name: 'test', level: 'silent' });

let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeEach(async () => {
  tallies = await startTallies();
});
afterEach(() => tallies.stop());

/** A follower that notes what it reads, in `store` or in the event store of the tallies. */
const start = (store?: () => EventStoreDBClient) => {
  const { client, projection } = tallies.options();
  const read: string[] = [];
  const current = store ?? (() => client);
  const follow = followLog({
    client: new Proxy(client, { get: (_, key) => Reflect.get(current(), key, current()) as unknown }),
    db: tallies.pool,
    projection,
    readRows: async () => void read.push(...(await tallies.rows()).map(({ id, n }) => `row ${id} ${n}`)),
    handle: async (entries) => {
      for (const { event } of entries) read.push(`event ${event!.streamId} ${(event!.data as { n: number }).n}`);
    },
  });
  return {
    /** What one call reads. The last event of the call before is read again. */
    call: async () => {
      await follow();
      return read.splice(0);
    },
  };
};
const record = (id: string, n: number, client = tallies.options().client) =>
  client.appendToStream(`tally-${id}`, jsonEvent({ type: 'Tallied', data: { n } }));
const park = () =>
  tallies.pool.query(`insert into tallies.parked_streams values ('projection', 'tally-x', 0, 'e', 't', 'reason')`);

test('reads the rows once, then only the events since the last call', async () => {
  await record('a', 1);
  const { client, projection, databaseUrl } = tallies.options();
  const running = startProjection({ client, pool: tallies.pool, databaseUrl, projection, log });
  while ((await tallies.rows()).length === 0) await sleep(20);
  await running.stop();
  await record('b', 1);

  const { call } = start();
  expect(await call()).toEqual(['row a 1', 'event tally-a 1', 'event tally-b 1']);
  expect(await call()).toEqual(['event tally-b 1']);
  await client.appendToStream('other', jsonEvent({ type: 'Other', data: {} }));
  await record('b', 2);
  expect(await call()).toEqual(['event tally-b 1', 'event tally-b 2']);
});

test('a parked stream matters only before the rows were read', async () => {
  await record('a', 1);
  await park();
  const { call } = start();
  await expect(call()).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await tallies.pool.query('delete from tallies.parked_streams');
  await call();
  await park();
  await record('a', 2);
  expect(await call()).toEqual(['event tally-a 1', 'event tally-a 2']);
});

test('an event that could not be handled is read again, with all after it', async () => {
  const { client, projection } = tallies.options();
  for (const n of [1, 2, 3]) await record('a', n);
  let fails = true;
  const handled: number[] = [];
  const follow = followLog({
    client,
    db: tallies.pool,
    projection,
    readRows: async () => {},
    handle: async (entries) => {
      for (const { event } of entries) {
        const { n } = event!.data as { n: number };
        if (n === 2 && fails) throw new Error('unreadable');
        handled.push(n);
      }
    },
  });
  await expect(follow()).rejects.toThrow();
  fails = false;
  await follow();
  expect(handled).toEqual([1, 1, 2, 3]);
});

test('reads rows and log anew when the event store was restored from an older backup', async () => {
  let current = tallies.options().client;
  const { call } = start(() => current);
  await record('a', 1);
  await record('a', 2);
  expect(await call()).toEqual(['event tally-a 1', 'event tally-a 2']);

  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const restored = connectEventStore(server.url);
  try {
    await record('a', 1, restored);
    for (const n of [7, 8, 9]) await record('b', n, restored);
    current = restored;
    expect(await call()).toEqual(['event tally-a 1', ...[7, 8, 9].map((n) => `event tally-b ${n}`)]);
    expect(await call()).toEqual(['event tally-b 9']);
  } finally {
    await restored.dispose();
    await server.stop();
    await database.drop();
  }
});
