import { startEventStore } from '@cpg/embedded-eventstore';
import { createLogger, newId } from '@cpg/platform';
import { createPool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { append, guardAppends } from '../store/append.ts';
import { connectEventStore } from '../store/connect.ts';
import type { LogPosition } from '../store/recorded.ts';
import { writeStoreIdentity } from './known-store.ts';
import { acquireCheckpoint } from './checkpoint.ts';
import { startProjection } from '../followers/projection.ts';
import { watchStore } from './store-watch.ts';
import { startTallies } from '../testing/jest-tallies.ts';
import { until } from '../testing/jest-until.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeAll(async () => {
  tallies = await startTallies();
});
afterAll(() => tallies.stop());

type Server = Awaited<ReturnType<typeof startEventStore>>;
let server: Server;
let client: EventStoreDBClient;
let databases: Awaited<ReturnType<typeof testDatabase>>[];
let closing: (() => unknown)[];

beforeEach(async () => {
  databases = [];
  closing = [];
  await tallies.pool.query('truncate tallies.checkpoints, tallies.tallies');
  const url = await newDatabase();
  server = await startEventStore({ databaseUrl: url, port: await freePort() });
  client = connectEventStore(server.url);
  await identify(client, 'sto_first');
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await client.dispose();
  await server.stop();
  for (const { drop } of databases) await drop();
});

const newDatabase = async () => {
  const database = await testDatabase();
  databases.push(database);
  return database.url;
};
const identify = (store: EventStoreDBClient, storeId: string) =>
  writeStoreIdentity(store, { storeId, environment: 'sandbox', at: '2026-01-01T00:00:00.000Z' }, 'service:test');
const tally = (id: string, n: number, store = client) =>
  store.appendToStream(`tally-${id}`, jsonEvent({ type: 'Tallied', data: { n } }));

/** Puts another event store at the same address; `prepare` writes its events. */
const replaceStore = async (prepare: (store: EventStoreDBClient) => Promise<unknown>) => {
  const { port } = server;
  await server.stop();
  server = await startEventStore({ databaseUrl: await newDatabase(), port });
  const store = connectEventStore(server.url);
  await prepare(store);
  await store.dispose();
};
/** A client that has not lost a connection need not wait for the next one. */
const connectAgain = async () => {
  await client.dispose();
  client = connectEventStore(server.url);
};

/** A checkpoint of a leader that has handled all events of `prefixes` up to now. */
const saveCheckpoint = async (position?: LogPosition) => {
  const checkpoint = await acquireCheckpoint(tallies.pool, { client, schema: 'tallies', name: 'projection' });
  await checkpoint.load();
  await checkpoint.save(tallies.pool, position ?? (await endOfLog()));
};
const endOfLog = async (): Promise<LogPosition> => {
  let position: LogPosition | null = null;
  for await (const { event } of client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 })) {
    const { id, streamId: stream, position: at } = event!;
    position = { commit: String(at.commit), prepare: String(at.prepare), event: { id, stream } };
  }
  return position!;
};

const watch = () => {
  const said: string[] = [];
  const refused: Error[] = [];
  let replaced = 0;
  let asked = 0;
  const store = watchStore({
    client,
    db: tallies.pool,
    schema: 'tallies',
    gate: { refuse: (error) => void refused.push(error) },
    timing: { retryMs: 10, recheckMs: 50 },
    onReplaced: () => void (replaced += 1),
    log: { ...log, info: () => {}, error: (_: unknown, text: string) => void said.push(text) } as never,
  });
  closing.push(store.stop);
  guardAppends(client, () => ((asked += 1), store.requireKnown()));
  return { store, said, refused, replaced: () => replaced, asked: () => asked };
};
const appendOne = () =>
  append(
    client,
    `tally-${newId('event')}`,
    [{ id: newId('event'), event: { type: 'Tallied', data: {} }, metadata: {} as never }],
    -1,
  );

const refusal = async (): Promise<string> => {
  await connectAgain();
  const { said, refused } = watch();
  await until(() => said.length);
  // At once: while the clock stands still no wait ends by itself.
  const frozen = performance.now();
  performance.now = () => frozen;
  await expect(appendOne()).rejects.toMatchObject({ code: 'dependency_unavailable' });
  Reflect.deleteProperty(performance, 'now');
  expect(refused.map(({ message }) => message)).toEqual(said);
  return said[0]!;
};

test('a store that has the event of every checkpoint is known', async () => {
  await tally('a', 1);
  await saveCheckpoint();
  await tally('a', 2);
  const { store, said } = watch();
  await store.untilKnown();
  expect(await appendOne()).toBe('appended');
  expect(said).toEqual([]);
});

test('another store at the address is refused while the service runs, in one sentence', async () => {
  await tally('a', 1);
  await saveCheckpoint();
  const { store, said, refused, replaced } = watch();
  await store.untilKnown();
  await replaceStore(async (other) => {
    await identify(other, 'sto_other');
    await tally('a', 1, other);
  });
  await expect(appendOne()).rejects.toMatchObject({ statusCode: 503 });
  await until(() => refused.length >= 4);
  expect(said).toEqual([
    'the event store at EVENTSTORE_URL is sto_other, but the checkpoints of schema tallies belong to sto_first: correct the address, or run "admin store reconcile"',
  ]);
  const others: unknown[] = [];
  for await (const { event } of client.readAll()) if (event!.streamId.startsWith('tally-evt')) others.push(event);
  expect(others).toEqual([]);
  await tallies.pool.query(`update tallies.checkpoints set store_id = 'sto_other', commit_position = null`);
  await until(replaced);
  // The process ends now: it checks no more, and its memory stays out of the store.
  await expect(store.untilKnown()).rejects.toThrow();
  await expect(appendOne()).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

test('an append that waits for the store is refused at a stop, and does not keep the process busy', async () => {
  await client.dispose();
  client = connectEventStore(`esdb://127.0.0.1:${await freePort()}?tls=false`);
  const { store, asked } = watch();
  const waiting = appendOne();
  await until(asked);
  let looks = 0;
  const { now } = performance;
  performance.now = () => (looks += 1) && now.call(performance);
  closing.push(() => void (performance.now = now));
  await store.stop();
  await expect(waiting).rejects.toMatchObject({ code: 'dependency_unavailable' });
  expect(looks).toBeLessThan(10);
});

test('an append waits for a store for some seconds, and not for ever', async () => {
  await client.dispose();
  client = connectEventStore(`esdb://127.0.0.1:${await freePort()}?tls=false`);
  watch();
  const { now } = performance;
  let ahead = 0;
  performance.now = () => now.call(performance) + (ahead += 2_000);
  closing.push(() => void Reflect.deleteProperty(performance, 'now'));
  await expect(appendOne()).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

test('an empty store is refused when the checkpoints know another one', async () => {
  await saveCheckpoint();
  await replaceStore(async () => {});
  expect(await refusal()).toMatch(
    /^the event store at EVENTSTORE_URL has no identity, but the checkpoints .* sto_first: /,
  );
});

test('a store that ends before a checkpoint is refused', async () => {
  await tally('a', 1);
  await tally('a', 2);
  await saveCheckpoint();
  await replaceStore((older) => identify(older, 'sto_first'));
  expect(await refusal()).toMatch(
    /ends before checkpoint tallies\.projection \(position \d+\), so it was restored from an older/,
  );
});

test('a store that was restored and has grown past the checkpoint is refused', async () => {
  await tally('a', 1);
  await saveCheckpoint();
  await replaceStore(async (older) => {
    await identify(older, 'sto_first');
    for (const n of [1, 2, 3]) await tally('b', n, older);
  });
  expect(await refusal()).toMatch(/does not have event [-\w]+ of tally-a at checkpoint tallies\.projection/);
});

test('a checkpoint stays valid when the stream of its event was deleted and removed', async () => {
  await tally('a', 1);
  await saveCheckpoint();
  await client.tombstoneStream('tally-a');
  const position = await endOfLog();
  // As the scavenge of EventStoreDB does.
  const storage = createPool({ url: databases[0]!.url, name: 'scavenge', log });
  await storage.query("delete from eventstore.event where stream = 'tally-a' and revision = 0");
  await storage.end();
  await watch().store.untilKnown();
  await saveCheckpoint(position);
  await watch().store.untilKnown();
});

test('a checkpoint without a store and an event learns them when a leader loads it', async () => {
  await tally('a', 1);
  const { commit, prepare, event } = await endOfLog();
  await tallies.pool.query(
    `insert into tallies.checkpoints (name, epoch, commit_position, prepare_position) values ('projection', 1, $1, $2)`,
    [commit, prepare],
  );
  const checkpoint = await acquireCheckpoint(tallies.pool, { client, schema: 'tallies', name: 'projection' });
  expect(await checkpoint.load()).toEqual({ commit, prepare, event });
  expect((await tallies.pool.query('select * from tallies.checkpoints')).rows).toMatchObject([
    { store_id: 'sto_first', event_id: event!.id, event_stream: 'tally-a' },
  ]);
});

test('a projection reads nothing from a store that is not known', async () => {
  await tally('a', 1);
  await saveCheckpoint();
  await replaceStore(async (other) => {
    await identify(other, 'sto_other');
    for (const n of [1, 2, 3]) await tally('other', n, other);
  });
  await connectAgain();
  const { store, refused } = watch();
  const { pool, databaseUrl, projection } = tallies;
  let waits = 0;
  const watched = { ...store, untilKnown: (signal?: AbortSignal) => ((waits += 1), store.untilKnown(signal)) };
  const projecting = startProjection({ client, pool, databaseUrl, projection, store: watched, log });
  closing.push(projecting.stop);
  await until(() => waits);
  // Each check reads from the store, as the projection would.
  const checks = refused.length + 4;
  await until(() => refused.length >= checks);
  expect(await tallies.rows()).toEqual([]);
});
