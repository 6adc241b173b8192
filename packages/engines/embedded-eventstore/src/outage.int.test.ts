import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { type EventStoreDBClient, UnavailableError, WrongExpectedVersionError } from '@eventstore/db-client';
import { startEventStore } from './index.ts';
import {
  administer,
  connect,
  counted,
  inDatabase,
  newStream,
  numbersIn,
  range,
  retryUnavailable,
  type TestDatabase,
} from './testing/jest-store.ts';

let database: TestDatabase;
let server: Awaited<ReturnType<typeof startEventStore>>;
let client: EventStoreDBClient;
beforeEach(async () => {
  database = await testDatabase();
  server = await startEventStore({ databaseUrl: database.url, port: 0 });
  client = connect(server.url);
});
afterEach(async () => {
  await client.dispose();
  await server.stop();
  await database.drop();
});

const databaseName = () => new URL(database.url).pathname.slice(1);
const endSessions = () =>
  administer(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${databaseName()}' and pid <> pg_backend_pid()`,
  );

const ignoreConflict = (error: unknown) => {
  if (!(error instanceof WrongExpectedVersionError)) throw error;
};

test('the server answers UNAVAILABLE and recovers by itself', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(1));
  await administer(`alter database ${databaseName()} with allow_connections false`);
  await endSessions();
  await expect(
    (async () => {
      for (;;) await client.appendToStream(stream, counted(9), { expectedRevision: 7n }).catch(ignoreConflict);
    })(),
  ).rejects.toBeInstanceOf(UnavailableError);
  await expect(numbersIn(client, stream)).rejects.toBeInstanceOf(UnavailableError);

  await administer(`alter database ${databaseName()} with allow_connections true`);
  const events = counted(2);
  await retryUnavailable(() => client.appendToStream(stream, events, { expectedRevision: 0n }));
  expect(await retryUnavailable(() => numbersIn(client, stream))).toEqual([1, 2]);
});

test('writers that retry lose no event and write none twice', async () => {
  const stream = newStream();
  let written = 0;
  const writing = range(0, 8).map(async (writer) => {
    for (const n of range(0, 25)) {
      const events = counted(writer * 100 + n);
      await retryUnavailable(() =>
        client.appendToStream(`${stream}-${writer}`, events, {
          expectedRevision: n === 0 ? 'no_stream' : BigInt(n - 1),
        }),
      );
      written += 1;
    }
  });
  const cutting = (async () => {
    for (const round of range(1, 5)) {
      while (written < 30 * round) await sleep(5);
      await endSessions();
    }
  })();
  await Promise.all([...writing, cutting]);
  for (const writer of range(0, 8)) {
    expect(await retryUnavailable(() => numbersIn(client, `${stream}-${writer}`))).toEqual(range(writer * 100, 25));
  }
  const [log] = await inDatabase<{ gaps: string }>(
    database.url,
    'select max(position) - count(*) as gaps from eventstore.event',
  );
  expect(log!.gaps).toBe('0');
});

test('a live subscription survives the loss of the writer session and misses no event', async () => {
  const stream = newStream();
  const received: number[] = [];
  let done = () => {};
  const all = new Promise<void>((resolve) => (done = resolve));
  const watcher = connect(server.url);
  const subscription = watcher.subscribeToStream(stream);
  subscription.on('data', ({ event }) => {
    received.push((event!.data as { n: number }).n);
    if (received.length === 3) done();
  });
  await new Promise((resolve) => subscription.once('caughtUp', resolve));
  for (const n of range(0, 3)) {
    const events = counted(n);
    await retryUnavailable(() => client.appendToStream(stream, events));
    await endSessions();
  }
  await all;
  expect(received).toEqual([0, 1, 2]);
  await watcher.dispose();
});
