import { startEventStore } from '@cpg/embedded-eventstore';
import { withFaults } from '@cpg/embedded-eventstore/testing';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger } from '@cpg/platform';
import { type EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client';
import { connectEventStore } from './connect.ts';
import { openEventStore } from './open.ts';
import { note } from '../testing/jest-lost-store.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof testDatabase>>;
let server: Awaited<ReturnType<typeof startEventStore>>;
let isReady = true;
beforeAll(async () => {
  database = await testDatabase();
  const wrapWriter = withFaults(() => (isReady ? null : 'not-ready'));
  server = await startEventStore({ databaseUrl: database.url, port: 0, wrapWriter });
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

const BROKEN = new Error('a promise that was kept');

/** A store whose first client reads, and fails every append. */
const openWithBrokenClient = () => {
  const clients: EventStoreDBClient[] = [];
  const store = openEventStore({
    url: server.url,
    log,
    connect: (url) => {
      const client = connectEventStore(url);
      if (clients.length === 0) client.appendToStream = () => Promise.reject(BROKEN);
      clients.push(client);
      return client;
    },
  });
  return { ...store, clients };
};

const untilReady = async (check: () => Promise<void>): Promise<void> => {
  for (;;) {
    try {
      return await check();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
};

test('a client whose appends fail while reads work is not ready, and is replaced', async () => {
  const { client, check, clients, close } = openWithBrokenClient();
  await expect(note(client, 'note-a')).rejects.toMatchObject({ code: 'outcome_unknown' });
  await expect(check()).rejects.toMatchObject({ asked: 'append', cause: BROKEN });
  await untilReady(check);
  await expect(note(client, 'note-a')).resolves.toBe('appended');
  expect(clients).toHaveLength(2);
  await close();
});

test('a subscription of the replaced client ends, so that it starts again on the new one', async () => {
  const { client, check, close } = openWithBrokenClient();
  const subscription = client.subscribeToAll();
  const ended = new Promise((resolve) => subscription.once('error', resolve));
  await new Promise((resolve) => subscription.once('confirmation', resolve));
  await untilReady(check);
  await expect(ended).resolves.toMatchObject({ message: 'the client of the event store was replaced' });
  await close();
});

test('a client is kept while a new one fails too', async () => {
  const store = openEventStore({ url: server.url, log });
  await store.check();
  const subscription = store.client.subscribeToAll().on('error', () => {});
  await new Promise((resolve) => subscription.once('confirmation', resolve));
  isReady = false;
  for (let n = 0; n < 3; n += 1) await expect(store.check()).rejects.toThrow('Server Is Not Ready');
  isReady = true;
  await untilReady(store.check);
  expect(subscription.destroyed).toBe(false);
  await store.close();
});

test('the check writes nothing', async () => {
  const store = openEventStore({ url: server.url, log });
  await store.check();
  const read = async () => {
    for await (const _ of store.client.readStream('readiness-check'));
  };
  await expect(read()).rejects.toBeInstanceOf(StreamNotFoundError);
  await store.close();
});
