import { testDatabase } from '@cpg/platform/postgres/testing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { startEventStore } from './index.ts';
import { collect, connect, counted, newStream, numbersIn, type TestDatabase } from './testing/jest-store.ts';

let database: TestDatabase;
let server: Awaited<ReturnType<typeof startEventStore>>;
let client: EventStoreDBClient;
beforeAll(async () => {
  database = await testDatabase();
  server = await startEventStore({ databaseUrl: database.url, port: 0 });
  client = connect(server.url);
});
afterAll(async () => {
  await client.dispose();
  await server.stop();
  await database.drop();
});

test.each<[string, (stream: string) => AsyncIterable<unknown>]>([
  ['a read of a stream', (stream) => client.readStream(stream, { resolveLinkTos: true })],
  ['a read of $all', () => client.readAll({ resolveLinkTos: true, maxCount: 1 })],
  ['a subscription to a stream', (stream) => client.subscribeToStream(stream, { resolveLinkTos: true })],
  ['a subscription to $all', () => client.subscribeToAll({ resolveLinkTos: true })],
])('refuses %s with resolveLinkTos, with a reason', async (_, read) => {
  const stream = newStream();
  await client.appendToStream(stream, counted(1));
  await expect(collect(read(stream))).rejects.toThrow(/UNIMPLEMENTED: the embedded event store does not resolve links/);
  expect(await numbersIn(client, stream, { resolveLinkTos: false })).toEqual([1]);
});
