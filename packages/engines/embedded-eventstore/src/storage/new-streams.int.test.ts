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

const startOf = (stream: string, events = counted(1)): Promise<AppendResult> =>
  client.appendToStream(stream, events, { expectedRevision: 'no_stream' });

const outcomes = async (appends: Promise<AppendResult>[]): Promise<string[]> =>
  (await Promise.allSettled(appends)).map((settled) =>
    settled.status === 'fulfilled' ? String(settled.value.nextExpectedRevision) : settled.reason.constructor.name,
  );

test('after a restart, appends of one batch that start streams are refused or repeated where the stream exists', async () => {
  const [existing, deleted, withMetadata] = [newStream(), newStream(), newStream()];
  const first = counted(1);
  await startOf(existing, first);
  await startOf(deleted);
  await client.tombstoneStream(deleted);
  await client.setStreamMetadata(withMetadata, { truncateBefore: 0 });
  await stop();
  await start();
  const fresh = range(0, 3).map(() => newStream());

  expect(
    await outcomes([
      ...fresh.map((stream) => startOf(stream)),
      startOf(existing),
      startOf(existing, first),
      startOf(deleted),
    ]),
  ).toEqual(['0', '0', '0', 'WrongExpectedVersionError', '0', 'StreamDeletedError']);
  expect(await outcomes([startOf(withMetadata), ...fresh.map((stream) => startOf(stream))])).toEqual([
    '0',
    ...fresh.map(() => 'WrongExpectedVersionError'),
  ]);
  for (const stream of [existing, withMetadata, ...fresh]) expect(await numbersIn(client, stream)).toEqual([1]);
});
