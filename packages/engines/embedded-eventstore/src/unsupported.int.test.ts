import { testDatabase } from '@cpg/platform/postgres';
import {
  type EventStoreDBClient,
  persistentSubscriptionToAllSettingsFromDefaults,
  persistentSubscriptionToStreamSettingsFromDefaults,
} from '@eventstore/db-client';
import { startEventStore } from './index.ts';
import { collect, connect, counted, newStream, numbersIn, type TestDatabase } from './testing/jest-store.ts';

const NOT_SUPPORTED = /UNIMPLEMENTED: the embedded event store does not support persistent subscriptions/;

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

const toStream = persistentSubscriptionToStreamSettingsFromDefaults();
const toAll = persistentSubscriptionToAllSettingsFromDefaults();

test.each<[string, () => Promise<unknown>]>([
  ['create, to a stream', () => client.createPersistentSubscriptionToStream('s', 'g', toStream)],
  ['create, to $all', () => client.createPersistentSubscriptionToAll('g', toAll)],
  ['update, to a stream', () => client.updatePersistentSubscriptionToStream('s', 'g', toStream)],
  ['update, to $all', () => client.updatePersistentSubscriptionToAll('g', toAll)],
  ['delete, to a stream', () => client.deletePersistentSubscriptionToStream('s', 'g')],
  ['delete, to $all', () => client.deletePersistentSubscriptionToAll('g')],
  ['info, to a stream', () => client.getPersistentSubscriptionToStreamInfo('s', 'g')],
  ['info, to $all', () => client.getPersistentSubscriptionToAllInfo('g')],
  ['replay of parked messages', () => client.replayParkedMessagesToStream('s', 'g')],
  ['list of all', () => client.listAllPersistentSubscriptions()],
  ['list of one stream', () => client.listPersistentSubscriptionsToStream('s')],
  ['restart of the subsystem', () => client.restartPersistentSubscriptionSubsystem()],
  ['subscription to a stream', () => collect(client.subscribeToPersistentSubscriptionToStream('s', 'g'))],
  ['subscription to $all', () => collect(client.subscribeToPersistentSubscriptionToAll('g'))],
])('refuses calls to persistent subscriptions with a reason: %s', async (_, call) => {
  await expect(call()).rejects.toThrow(NOT_SUPPORTED);
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
