import { testDatabase } from '@cpg/postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventStoreDBClient, START, UnavailableError, WrongExpectedVersionError } from '@eventstore/db-client';
import { startEventStore } from './index.ts';
import { freePort } from './testing/jest-process.ts';
import {
  administer,
  connect,
  counted,
  inDatabase,
  newStream,
  numberOf,
  numbersIn,
  range,
  type TestDatabase,
} from './testing/jest-store.ts';

let database: TestDatabase;
beforeEach(async () => (database = await testDatabase()));
afterEach(() => database.drop());

const start = (log: (line: string) => void = () => {}) => startEventStore({ databaseUrl: database.url, port: 0, log });

/** Retries while the server is unavailable. The same event ids make the retry idempotent. */
const retryUnavailable = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      await sleep(50);
    }
  }
};

const databaseName = () => new URL(database.url).pathname.slice(1);
const endSessions = () =>
  administer(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${databaseName()}' and pid <> pg_backend_pid()`,
  );

test('a restarted server continues the log of the last one', async () => {
  const stream = newStream();
  const first = await start();
  const one = connect(first.url);
  const before = await one.appendToStream(stream, counted(1));
  await one.dispose();
  await first.stop();

  const second = await start();
  const other = connect(second.url);
  const after = await other.appendToStream(stream, counted(2), { expectedRevision: 0n });
  expect(after.position!.commit).toBeGreaterThan(before.position!.commit);
  expect(await numbersIn(other, stream)).toEqual([1, 2]);
  await other.dispose();
  await second.stop();
});

test('after a restart clients reconnect and subscribers that resume miss no event', async () => {
  const stream = newStream();
  const port = await freePort();
  const begin = () => startEventStore({ databaseUrl: database.url, port });
  const received: number[] = [];
  const follow = async () => {
    const fromRevision = received.length === 0 ? START : BigInt(received.length - 1);
    for await (const resolved of client.subscribeToStream(stream, { fromRevision })) received.push(numberOf(resolved));
  };
  let server = await begin();
  const client = connect(server.url);
  const following = (async () => {
    for (let drops = 0; ;) {
      await follow().catch((error: unknown) => {
        if (!(error instanceof UnavailableError)) throw error;
        drops++;
      });
      if (received.length === 6) return drops;
      await sleep(20);
    }
  })();
  for (const round of range(0, 3)) {
    for (const n of range(2 * round, 2)) {
      const events = counted(n);
      await retryUnavailable(() =>
        client.appendToStream(stream, events, { expectedRevision: n === 0 ? 'no_stream' : BigInt(n - 1) }),
      );
    }
    while (received.length < 2 * round + 2) await sleep(5);
    await server.stop();
    if (round < 2) server = await begin();
  }
  expect(await following).toBeGreaterThanOrEqual(3);
  expect(received).toEqual(range(0, 6));
  await client.dispose();
});

test('a repeated append is recognised after a restart, whatever revision it expects', async () => {
  const stream = newStream();
  const events = counted(1, 2);
  const first = await start();
  const one = connect(first.url);
  const written = await one.appendToStream(stream, events, { expectedRevision: 'no_stream' });
  await one.dispose();
  await first.stop();

  const second = await start();
  const other = connect(second.url);
  for (const expectedRevision of ['no_stream', 'any', 'stream_exists'] as const) {
    expect(await other.appendToStream(stream, events, { expectedRevision })).toEqual(written);
  }
  expect(await numbersIn(other, stream)).toEqual([1, 2]);
  await other.dispose();
  await second.stop();
});

describe('when the database is unavailable', () => {
  let server: Awaited<ReturnType<typeof startEventStore>>;
  let client: EventStoreDBClient;
  const lines: string[] = [];
  beforeEach(async () => {
    server = await start((line) => lines.push(line));
    client = connect(server.url);
  });
  afterEach(async () => {
    await client.dispose();
    await server.stop();
  });

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
    const writing = range(0, 8).map(async (writer) => {
      for (const n of range(0, 25)) {
        const events = counted(writer * 100 + n);
        await retryUnavailable(() =>
          client.appendToStream(`${stream}-${writer}`, events, {
            expectedRevision: n === 0 ? 'no_stream' : BigInt(n - 1),
          }),
        );
      }
    });
    const cutting = (async () => {
      for (const _ of range(0, 5)) {
        await sleep(60);
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
});

const ignoreConflict = (error: unknown) => {
  if (!(error instanceof WrongExpectedVersionError)) throw error;
};

test('a second server on the same database waits until the first one stops', async () => {
  const stream = newStream();
  const first = await start();
  const one = connect(first.url);
  let waits = (_: string) => {};
  const waiting = new Promise<string>((resolve) => (waits = resolve));
  let isOpen = false;
  const second = start((line) => waits(line)).then((server) => {
    isOpen = true;
    return server;
  });
  expect(await waiting).toMatch(/another event store server writes to this database/);
  await one.appendToStream(stream, counted(1));
  expect(isOpen).toBe(false);
  await one.dispose();
  await first.stop();

  const { url, stop } = await second;
  const other = connect(url);
  await other.appendToStream(stream, counted(2), { expectedRevision: 0n });
  expect(await numbersIn(other, stream)).toEqual([1, 2]);
  await other.dispose();
  await stop();
});

test('data of another schema version is refused with a message', async () => {
  await (await start()).stop();
  await inDatabase(database.url, 'update eventstore.format set version = 99');
  await expect(start()).rejects.toThrow('the event store database has data format 99, this server reads format 1');
});

test('subscriptions end with UNAVAILABLE when the server stops', async () => {
  const server = await start();
  const client = connect(server.url);
  const subscription = client.subscribeToAll().resume();
  const ended = new Promise<Error>((resolve) => subscription.once('error', resolve));
  await new Promise((resolve) => subscription.once('caughtUp', resolve));
  await server.stop();
  expect(await ended).toBeInstanceOf(UnavailableError);
  await client.dispose();
});
