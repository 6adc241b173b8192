import { testDatabase } from '@cpg/platform/postgres/testing';
import type { AppendResult, EventStoreDBClient } from '@eventstore/db-client';
import { startEventStore } from '../index.ts';
import { connect, counted, newStream, numbersIn, range, type TestDatabase } from '../testing/jest-store.ts';

let database: TestDatabase;
let server: Awaited<ReturnType<typeof startEventStore>>;
let client: EventStoreDBClient;
const start = async () => {
  server = await startEventStore({ databaseUrl: database.url, port: 0 });
  client = connect(server.url);
};
const stop = async () => {
  await client.dispose();
  await server.stop();
};
beforeAll(async () => {
  database = await testDatabase();
  await start();
});
afterAll(async () => {
  await stop();
  await database.drop();
});

const appendFirst = (stream: string, events = counted(1)): Promise<AppendResult> =>
  client.appendToStream(stream, events, { expectedRevision: 'no_stream' });

const outcomes = async (appends: Promise<AppendResult>[]): Promise<string[]> =>
  (await Promise.allSettled(appends)).map((settled) =>
    settled.status === 'fulfilled' ? String(settled.value.nextExpectedRevision) : settled.reason.constructor.name,
  );

test('after a restart, appends with `no_stream` begin new streams, succeed as a repeat, and are refused by existing and deleted streams', async () => {
  const [existing, deleted, withMetadata] = [newStream(), newStream(), newStream()];
  const first = counted(1);
  await appendFirst(existing, first);
  await appendFirst(deleted);
  await client.tombstoneStream(deleted);
  await client.setStreamMetadata(withMetadata, { truncateBefore: 0 });
  // The server has to look up in its files which streams exist. Appends that are sent together are written as one
  // batch.
  await stop();
  await start();
  const fresh = range(0, 3).map(() => newStream());

  expect(
    await outcomes([
      ...fresh.map((stream) => appendFirst(stream)),
      appendFirst(existing),
      appendFirst(existing, first),
      appendFirst(deleted),
    ]),
  ).toEqual(['0', '0', '0', 'WrongExpectedVersionError', '0', 'StreamDeletedError']);
  expect(await outcomes([appendFirst(withMetadata), ...fresh.map((stream) => appendFirst(stream))])).toEqual([
    '0',
    ...fresh.map(() => 'WrongExpectedVersionError'),
  ]);
  for (const stream of [existing, withMetadata, ...fresh]) expect(await numbersIn(client, stream)).toEqual([1]);
});
