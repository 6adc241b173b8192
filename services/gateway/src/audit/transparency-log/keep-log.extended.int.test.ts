import { CheckpointSigned, STORE_FORMAT, TRANSPARENCY_LOG_STREAM } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import {
  AnyEvent,
  append,
  connectEventStore,
  endOf,
  linkEvents,
  readStream,
  tombstone,
  verifyHashChains,
  writeStoreIdentity,
} from '@cpg/event-sourcing';
import { newContext, newUlid } from '@cpg/platform';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { leafHash, newSigningKey, noteSigner, openNote, rootOf, subtreesIn } from '@cpg/transparency-log';
import { log, startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { followLogStream, type LogStores, readNewLeaves, signCheckpoint } from './keep-log.ts';
import { startLogKeeper } from './log-keeper.ts';
import { readCheckpoint, tilesIn } from './log-tables.ts';

const signer = noteSigner(newSigningKey('gateway.example'));
const now = () => new Date('2026-01-31T12:00:00.000Z');
const { signal } = new AbortController();

let gateway: TestGateway;
let stores: LogStores;
let stopStore: () => Promise<void>;
beforeEach(async () => {
  gateway = await startGateway();
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  stores = { client: connectEventStore(server.url), pool: gateway.pool };
  stopStore = async () => {
    await stores.client.dispose();
    await server.stop();
    await database.drop();
  };
});
afterEach(async () => {
  await gateway.close();
  await stopStore();
});

/** Records events on a new stream. Resolves to their entries in the log. */
const record = async (count: number, stream = `order-${newUlid()}`): Promise<string[]> => {
  const events = Array.from({ length: count }, (_, n) => ({ type: 'Counted', data: { n, at: now().toISOString() } }));
  const linked = linkEvents(events, stream, endOf(stream, null), newContext('service:test'), { causationId: 'cause' });
  await append(stores.client, stream, linked, -1);
  return linked.map(({ revision, metadata }) => `${revision}@${stream} ${metadata.hash}`);
};

/** One round of the log. Resolves to whether it added leaves. */
const addLeaves = async (): Promise<boolean> => {
  const last = await followLogStream(stores);
  const leaves = await readNewLeaves(stores.client, last, signal);
  return leaves !== null && signCheckpoint(stores, last, leaves, { signer, now });
};
const recordedCheckpoints = async () =>
  (await readStream(stores.client, TRANSPARENCY_LOG_STREAM, CheckpointSigned))!.map(({ event }) => event.data);

/** The leaves of the log, as `/audit` serves them. */
const servedLog = async () => {
  const { payload } = await gateway.app.inject('/audit/checkpoint');
  const [origin, size, root] = openNote(payload, signer.verifierKey)!.split('\n');
  const tile = await gateway.app.inject(`/audit/tile/0/000.p/${size}`);
  return { origin, size: Number(size), root, tile: tile.rawPayload };
};
const leavesOf = (entries: readonly string[]) => Buffer.concat(entries.map((entry) => leafHash(Buffer.from(entry))));

test('adds each recorded event once, in the order of the event store, and serves them with a signed checkpoint', async () => {
  expect(await addLeaves()).toBe(false);
  const first = [...(await record(2)), ...(await record(1))];
  expect(await addLeaves()).toBe(true);
  expect(await addLeaves()).toBe(false);
  expect(await servedLog()).toMatchObject({ origin: 'gateway.example', size: 3, tile: leavesOf(first) });

  const all = [...first, ...(await record(3))];
  expect(await addLeaves()).toBe(true);
  await followLogStream(stores);
  const { size, root, tile } = await servedLog();
  expect([size, tile]).toEqual([6, leavesOf(all)]);
  expect(root).toBe((await rootOf(subtreesIn(tilesIn(stores.pool)), 6)).toString('base64'));
  const verified = await verifyHashChains(stores.client, { prefixes: [TRANSPARENCY_LOG_STREAM], signal });
  expect(verified).toMatchObject({ events: 2, faults: 0 });
});

test('keeps the leaves of deleted events, and makes lost tables again with the same checkpoint', async () => {
  const stream = `order-${newUlid()}`;
  const deleted = await record(2, stream);
  await addLeaves();
  await tombstone(stores.client, stream);
  const kept = await record(1);
  await addLeaves();
  await followLogStream(stores);
  const before = await servedLog();
  expect(before).toMatchObject({ size: 3, tile: leavesOf([...deleted, ...kept]) });
  await stores.pool.query('truncate gateway.transparency_log, gateway.transparency_log_tiles');
  expect((await gateway.app.inject('/audit/checkpoint')).json()).toMatchObject({ code: 'not_found' });
  await followLogStream(stores);
  expect(await servedLog()).toEqual(before);
});

test('adds 1,000 events with each checkpoint, and all of them', async () => {
  const entries: string[] = [];
  for (let n = 0; n < 5; n += 1) entries.push(...(await record(450)));
  while (await addLeaves());
  expect((await recordedCheckpoints()).map(({ size }) => size)).toEqual([1_000, 2_000, 2_250]);
  expect((await recordedCheckpoints()).flatMap((checkpoint) => checkpoint.entries)).toEqual(entries);
  const tile = await gateway.app.inject('/audit/tile/1/000.p/8');
  expect(tile.rawPayload).toHaveLength(8 * 32);
});

test('processes that add the same events at once add them once', async () => {
  await record(5);
  await Promise.all([addLeaves(), addLeaves(), addLeaves()]);
  await Promise.all([followLogStream(stores), followLogStream(stores)]);
  expect(await addLeaves()).toBe(false);
  expect((await servedLog()).size).toBe(5);
  expect(await recordedCheckpoints()).toHaveLength(1);
});

test('says that the event store is older than the tables', async () => {
  await record(1);
  await addLeaves();
  await followLogStream(stores);
  await stores.pool.query('update gateway.transparency_log set revision = 4');
  await expect(followLogStream(stores)).rejects.toThrow(
    'the tables have 5 checkpoints of the transparency log, and the event store 1',
  );
});

test('a process keeps the log while it leads', async () => {
  await writeStoreIdentity(
    stores.client,
    { storeId: newUlid(), environment: 'sandbox', format: STORE_FORMAT, at: now().toISOString() },
    'service:test',
  );
  const [identity] = (await readStream(stores.client, 'store-identity', AnyEvent))!;
  const keeper = startLogKeeper({
    ...stores,
    databaseUrl: gateway.databaseUrl,
    environment: 'sandbox',
    signer,
    now,
    failed: () => false,
    log,
    pauseMs: 20,
    checkpointEveryMs: 50,
  });
  const entries = await record(3);
  const isComplete = async () =>
    (await readCheckpoint(stores.pool))?.startsWith(`gateway.example\n${1 + entries.length}\n`);
  while (!(await isComplete())) await new Promise((done) => setTimeout(done, 20));
  expect((await servedLog()).tile).toEqual(leavesOf([`0@store-identity ${identity!.metadata.hash}`, ...entries]));
  expect(keeper.lagSeconds()).toBeLessThan(60);
  await keeper.stop();
  expect(keeper.lagSeconds()).toBeNull();
});

test('there is no tile that the log does not have yet, or that no log has', async () => {
  await record(1);
  await addLeaves();
  await followLogStream(stores);
  expect((await gateway.app.inject('/audit/tile/0/000.p/1')).statusCode).toBe(200);
  for (const name of ['0/000', '0/000.p/2', '1/000.p/1', 'x', '0/000.p/0', 'checkpoint'])
    expect((await gateway.app.inject(`/audit/tile/${name}`)).statusCode).toBe(404);
});
