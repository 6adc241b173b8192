import {
  type EventStoreDBClient,
  type PersistentSubscriptionToStreamSettings,
  persistentSubscriptionToStreamSettingsFromDefaults,
  START,
  UnavailableError,
} from '@eventstore/db-client';
import { startEventStore } from '../index.ts';
import { Consumer, eventually } from '../testing/jest-consumer.ts';
import { compile, freePort, type ServerProcess, spawnMain } from '../testing/jest-process.ts';
import {
  administer,
  connect,
  counted,
  createDatabase,
  newStream,
  range,
  type TestDatabase,
} from '../testing/jest-store.ts';

let database: TestDatabase;
beforeEach(async () => (database = await createDatabase()));
afterEach(() => database.drop());

const GROUP = 'group';
const createGroup = (
  client: EventStoreDBClient,
  stream: string,
  changes: Partial<PersistentSubscriptionToStreamSettings> = {},
) =>
  client.createPersistentSubscriptionToStream(
    stream,
    GROUP,
    persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: START, ...changes }),
  );
const consume = (client: EventStoreDBClient, stream: string, bufferSize = 10) =>
  new Consumer(client.subscribeToPersistentSubscriptionToStream(stream, GROUP, { bufferSize }));

const started = async () => {
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connect(server.url);
  const stop = async () => {
    await client.dispose();
    await server.stop();
  };
  return { client, stop };
};

test('a restarted server goes on after the last message that was done', async () => {
  const stream = newStream();
  const first = await started();
  await first.client.appendToStream(stream, counted(...range(0, 6)));
  await createGroup(first.client, stream);
  const consumer = consume(first.client, stream);
  await consumer.received(6);
  await consumer.ack(0, 1, 2, 4);
  await eventually(async () => {
    const { stats } = await first.client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
    expect(stats.totalInFlightMessages).toBe(2);
  });
  await first.stop();

  const second = await started();
  const { settings, stats } = await second.client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
  expect(settings.startFrom).toBe(START);
  expect(stats).toMatchObject({ lastCheckpointedEventRevision: 2n });
  expect(await consume(second.client, stream).received(3)).toEqual([3, 4, 5]);
  await second.stop();
});

test('what comes after a group was created at the end is not missed by a restart', async () => {
  const stream = newStream();
  const first = await started();
  await first.client.appendToStream(stream, counted(0));
  await createGroup(first.client, stream, { startFrom: 'end' });
  await first.client.appendToStream(stream, counted(1));
  await first.stop();

  const second = await started();
  await second.client.appendToStream(stream, counted(2));
  expect(await consume(second.client, stream).received(2)).toEqual([1, 2]);
  await second.stop();
});

test('parked messages that are being replayed stay parked until they are done', async () => {
  const stream = newStream();
  const first = await started();
  await first.client.appendToStream(stream, counted(0, 1));
  await createGroup(first.client, stream);
  const consumer = consume(first.client, stream);
  await consumer.received(2);
  await consumer.nack('park', 'later', 0, 1);
  const parked = async (client: EventStoreDBClient) =>
    (await client.getPersistentSubscriptionToStreamInfo(stream, GROUP)).stats.parkedMessageCount;
  await eventually(async () => expect(await parked(first.client)).toBe(2n));
  await first.client.replayParkedMessagesToStream(stream, GROUP);
  await consumer.received(4);
  await consumer.ack(2);
  await eventually(async () => expect(await parked(first.client)).toBe(1n));
  await first.stop();

  const second = await started();
  expect(await parked(second.client)).toBe(1n);
  await second.client.replayParkedMessagesToStream(stream, GROUP);
  expect(await consume(second.client, stream).received(1)).toEqual([consumer.numbers[3]]);
  await second.stop();
});

test('a server that loses its database drops subscribers as unavailable, and misses nothing', async () => {
  const stream = newStream();
  const { client, stop } = await started();
  await client.appendToStream(stream, counted(...range(0, 40)));
  await createGroup(client, stream);
  const consumers: Consumer[] = [];
  const drops: unknown[] = [];
  const done = () => new Set(consumers.flatMap(({ numbers }) => numbers)).size;
  const consuming = (async () => {
    while (done() < 40) {
      const consumer = consume(client, stream, 2).acknowledgeAll();
      consumers.push(consumer);
      const isDone = eventually(() => expect(done()).toBe(40));
      await Promise.race([isDone, consumer.ended]).catch((error: unknown) => drops.push(error));
      if (drops.length > 0 && !(drops.at(-1) instanceof UnavailableError)) return;
    }
  })();
  const name = new URL(database.url).pathname.slice(1);
  for (const _ of range(0, 3)) {
    await administer(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await consuming;
  expect(done()).toBe(40);
  expect(drops.every((error) => error instanceof UnavailableError)).toBe(true);
  await stop();
});

describe('kill -9', () => {
  let compiled: ReturnType<typeof compile>;
  beforeAll(() => (compiled = compile()));
  afterAll(() => compiled.remove());
  let server: ServerProcess;
  afterEach(async () => {
    server.child.kill('SIGKILL');
    await server.exited;
  });
  const start = async (port: number) => {
    server = spawnMain(compiled.main, { EVENTSTORE_DATABASE_URL: database.url, EVENTSTORE_PORT: String(port) });
    return connect((await server.line(/listening on/)).replace(/.*listening on /, ''));
  };

  test('keeps the group and its checkpoint: what was not done comes again, and nothing is missed', async () => {
    const [port, stream] = [await freePort(), newStream()];
    const client = await start(port);
    await client.appendToStream(stream, counted(...range(0, 20)));
    await createGroup(client, stream, { checkPointUpperBound: 12 });
    const before = consume(client, stream, 20);
    await before.received(20);
    await before.ack(...range(0, 12), 15);
    await eventually(async () => {
      const { stats } = await client.getPersistentSubscriptionToStreamInfo(stream, GROUP);
      expect(stats).toMatchObject({ lastCheckpointedEventRevision: 11n });
    });
    server.child.kill('SIGKILL');
    await server.exited;
    await client.dispose();

    const again = await start(port);
    expect(await consume(again, stream).received(8)).toEqual(range(12, 8));
    await again.dispose();
  });
});
