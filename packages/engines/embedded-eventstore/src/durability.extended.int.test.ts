import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import { START, UnavailableError } from '@eventstore/db-client';
import { startEventStore } from './index.ts';
import {
  connect,
  counted,
  inDatabase,
  newStream,
  numberOf,
  numbersIn,
  range,
  retryUnavailable,
  type TestDatabase,
} from './testing/jest-store.ts';

let database: TestDatabase;
beforeEach(async () => (database = await testDatabase()));
afterEach(() => database.drop());

const start = (log: (line: string) => void = () => {}) => startEventStore({ databaseUrl: database.url, port: 0, log });

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

test.each([
  ['that sends nothing', async (port: number) => connectSocket(port)],
  [
    'that never closes its side',
    async (port: number) => {
      const socket = await connectSocket(port);
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
      await once(socket, 'data');
      return socket;
    },
  ],
])('the server stops beside a connection %s, and frees the database', async (_, open) => {
  const server = await start();
  const socket = await open(server.port);
  await server.stop();
  socket.destroy();
  const next = await start(); // waits for the lock
  await next.stop();
});

const connectSocket = async (port: number) => {
  const socket = createConnection({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};
