import { setTimeout as sleep } from 'node:timers/promises';
import { startEventStore } from '@cpg/embedded-eventstore';
import { testDatabase } from '@cpg/postgres';
import { createLogger } from '@cpg/runtime';
import { jsonEvent } from '@eventstore/db-client';
import { connectEventStore } from './connect.ts';
import type { LogPosition } from './recorded.ts';
import { runSubscription } from './subscription.ts';

const log = createLogger({ name: 'test', level: 'silent' });

test('a follower sees every event once in order, though its handler fails and the server restarts', async () => {
  const database = await testDatabase();
  let server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const { port } = server;
  const client = connectEventStore(server.url);
  const stopping = new AbortController();
  const seen: number[] = [];
  let checkpoint: LogPosition | null = null;
  let failures = 2;
  const following = runSubscription({
    client,
    prefixes: ['seen-'],
    checkpoint: async () => checkpoint,
    signal: stopping.signal,
    log,
    handle: async (events, position) => {
      if (seen.length > 20 && failures > 0) {
        failures -= 1;
        throw new Error('not this time');
      }
      seen.push(...events.map(({ event }) => (event!.data as { n: number }).n));
      checkpoint = position;
    },
  });
  const write = async (n: number) => {
    const event = jsonEvent({ type: 'Numbered', data: { n } });
    for (;;) {
      try {
        await client.appendToStream(`${n % 3 === 0 ? 'unseen' : 'seen'}-${n % 5}`, event);
        return;
      } catch {
        await sleep(20);
      }
    }
  };
  for (let n = 0; n < 200; n += 1) {
    await write(n);
    if (n === 100) {
      await server.stop();
      server = await startEventStore({ databaseUrl: database.url, port });
    }
  }
  const expected = Array.from({ length: 200 }, (_, n) => n).filter((n) => n % 3 !== 0);
  while (seen.length < expected.length) await sleep(20);
  stopping.abort();
  await following;
  expect(seen).toEqual(expected);
  expect(failures).toBe(0);
  await client.dispose();
  await server.stop();
  await database.drop();
});

test('a follower that is stopped while its checkpoint is read ends with it', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connectEventStore(server.url);
  const stopping = new AbortController();
  let handled = 0;
  await client.appendToStream('seen-1', jsonEvent({ type: 'Numbered', data: { n: 1 } }));
  await runSubscription({
    client,
    prefixes: ['seen-'],
    checkpoint: async () => {
      stopping.abort();
      return null;
    },
    signal: stopping.signal,
    log,
    handle: async (events) => void (handled += events.length),
  });
  expect(handled).toBe(0);
  await client.dispose();
  await server.stop();
  await database.drop();
});

describe('settling', () => {
  const NEVER = 600_000;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let server: Awaited<ReturnType<typeof startEventStore>>;
  let client: ReturnType<typeof connectEventStore>;

  beforeAll(async () => {
    database = await testDatabase();
    server = await startEventStore({ databaseUrl: database.url, port: 0 });
    client = connectEventStore(server.url);
  });
  afterAll(async () => {
    await client.dispose();
    await server.stop();
    await database.drop();
  });

  const append = async (prefix: string, count: number): Promise<LogPosition> => {
    const events = Array.from({ length: count }, (_, n) => jsonEvent({ type: 'Numbered', data: { n } }));
    const { position } = await client.appendToStream(`${prefix}1`, events);
    return { commit: String(position!.commit), prepare: String(position!.prepare) };
  };
  const until = async (look: () => boolean) => {
    while (!look()) await sleep(5);
  };
  /** A follower whose checkpoint is what it settled last. */
  const start = (prefix: string, when: { idleMs: number; maxDelayMs: number }, fault: () => void = () => {}) => {
    const stopping = new AbortController();
    const settled: LogPosition[] = [];
    const handled: number[] = [];
    const ended = runSubscription({
      client,
      prefixes: [prefix],
      checkpoint: async () => settled.at(-1) ?? null,
      signal: stopping.signal,
      log,
      handle: async (events) => void handled.push(...events.map(({ event }) => Number(event!.revision))),
      flush: {
        ...when,
        run: async (position) => {
          fault();
          settled.push(position);
        },
      },
    });
    const stop = async () => {
      stopping.abort();
      await ended;
    };
    return { settled, handled, stop };
  };

  test('what was handled is settled once it is quiet', async () => {
    const { settled, stop } = start('quiet-', { idleMs: 10, maxDelayMs: NEVER });
    const last = await append('quiet-', 3);
    await until(() => settled.length > 0);
    expect(settled.at(-1)).toEqual(last);
    await stop();
  });

  test('where it never gets quiet it is settled all the same', async () => {
    const { settled, stop } = start('busy-', { idleMs: NEVER, maxDelayMs: 20 });
    while (settled.length < 3) await append('busy-', 1);
    const commits = settled.map(({ commit }) => BigInt(commit));
    expect(commits).toEqual([...commits].sort((a, b) => (a < b ? -1 : 1)));
    await stop();
  });

  test('a follower that stops settles first', async () => {
    const { settled, handled, stop } = start('stop-', { idleMs: NEVER, maxDelayMs: NEVER });
    const last = await append('stop-', 2);
    await until(() => handled.length === 2);
    expect(settled).toEqual([]);
    await stop();
    expect(settled).toEqual([last]);
  });

  test('what cannot be settled is handled again, from what was settled last', async () => {
    let faults = 0;
    const { settled, handled, stop } = start('fault-', { idleMs: 5, maxDelayMs: NEVER }, () => {
      if (handled.length === 3 && faults++ === 0) throw new Error('not this time');
    });
    const first = await append('fault-', 1);
    await until(() => settled.length === 1);
    const last = await append('fault-', 2);
    await until(() => settled.length === 2);
    expect(settled).toEqual([first, last]);
    expect(handled).toEqual([0, 1, 2, 1, 2]);
    await stop();
  });
});
