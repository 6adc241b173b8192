import { startEventStore } from '@cpg/embedded-eventstore';
import { createLogger } from '@cpg/platform';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { tombstone } from '../store/append.ts';
import { connectEventStore } from '../store/connect.ts';
import { checkPosition, endOfLog } from '../store/log.ts';
import type { LogPosition } from '../store/recorded.ts';
import {
  firstEventData,
  isKnownStream,
  readCheckpoints,
  readStoreIdentity,
  requireKnownStore,
  verified,
  writeStoreIdentity,
} from './known-store.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const AT = '2026-01-01T00:00:00.000Z';
const identityOf = (storeId: string) => ({ storeId, environment: 'sandbox' as const, at: AT });

let client: EventStoreDBClient;
let pool: Pool;
/** The database of the event store. */
let storage: Pool;
const closing: (() => unknown)[] = [];

const startStore = async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  storage = createPool({ url: database.url, name: 'scavenge', log });
  const started = connectEventStore(server.url);
  closing.unshift(
    () => started.dispose(),
    () => server.stop(),
    () => storage.end(),
    () => database.drop(),
  );
  return started;
};

beforeAll(async () => {
  const database = await testDatabase();
  pool = createPool({ url: database.url, name: 'test', log });
  closing.push(() => pool.end(), database.drop);
  client = await startStore();
  await pool.query(`
    create schema things;
    create table things.checkpoints (name text primary key, commit_position numeric, prepare_position numeric,
      store_id text, event_id text, event_stream text, retired_at timestamptz)`);
});
afterAll(async () => {
  for (const close of closing) await close();
});
beforeEach(() => pool.query('truncate things.checkpoints'));

const record = async (stream: string, data: object = {}): Promise<LogPosition> => {
  await client.appendToStream(stream, jsonEvent({ type: 'Happened', data: { ...data } }));
  return (await endOfLog(client))!;
};
const insert = (name: string, position: LogPosition | null, storeId: string | null = null, retired = false) =>
  pool.query('insert into things.checkpoints values ($1, $2, $3, $4, $5, $6, $7)', [
    name,
    position?.commit,
    position?.prepare,
    storeId,
    position?.event?.id,
    position?.event?.stream,
    retired ? AT : null,
  ]);

test('a store has no identity until one is written, and then that one for ever', async () => {
  expect(await readStoreIdentity(client)).toBeNull();
  expect(await writeStoreIdentity(client, identityOf('sto_1'), 'service:a')).toEqual(identityOf('sto_1'));
  expect(await writeStoreIdentity(client, identityOf('sto_2'), 'service:b')).toEqual(identityOf('sto_1'));
  expect(await readStoreIdentity(client)).toEqual(identityOf('sto_1'));
});

test('reads the checkpoints in use, by name, with what they know', async () => {
  const position = await record('thing-1');
  const { commit, prepare } = position;
  await insert('c', null, 'sto_1');
  await insert('b', position, 'sto_1');
  await insert('a', { commit, prepare });
  await insert('retired', position, 'sto_1', true);
  const all = [
    { name: 'a', storeId: null, position: { commit, prepare } },
    { name: 'b', storeId: 'sto_1', position },
    { name: 'c', storeId: 'sto_1', position: null },
  ];
  expect(await readCheckpoints(pool, 'things')).toEqual(all);
  const some = "name = $1 or name = 'retired'";
  expect(await readCheckpoints(pool, 'things', some, ['b'])).toEqual([all[1]]);
});

test.each([
  ['the identity that it stored', 'sto_1', 'sto_1', null],
  ['no identity, and the checkpoint none either', null, null, null],
  ['an identity that the checkpoint did not store yet', null, 'sto_1', null],
  [
    'another identity',
    'sto_1',
    'sto_2',
    'the event store at EVENTSTORE_URL is sto_2, but the checkpoints of schema things belong to sto_1',
  ],
  [
    'no identity any more',
    'sto_1',
    null,
    'the event store at EVENTSTORE_URL has no identity, but the checkpoints of schema things belong to sto_1',
  ],
])('a checkpoint and a store that has %s', async (_, storeId, found, fact) => {
  const checking = verified(client, found === null ? null : identityOf(found), 'things', {
    name: 'relay',
    storeId,
    position: null,
  });
  if (fact === null) expect(await checking).toBeNull();
  else
    await expect(checking).rejects.toMatchObject({
      name: 'UnknownStoreError',
      fact,
      message: `${fact}: correct the address, or run "admin store reconcile"`,
    });
});

describe('the event at a checkpoint', () => {
  const verify = (position: LogPosition) =>
    verified(client, null, 'things', { name: 'relay', storeId: null, position });

  test('is learned where the checkpoint did not store it', async () => {
    const position = await record('thing-2');
    await record('thing-2');
    expect(await verify(position)).toEqual(position);
    const { commit, prepare } = position;
    expect(await verify({ commit, prepare })).toEqual(position);
  });

  test('may be gone with its deleted stream, and is missing otherwise', async () => {
    const { event, ...gone } = await record('deleted-3');
    const other = await record('thing-3');
    await tombstone(client, 'deleted-3');
    // As the scavenge of EventStoreDB does.
    await storage.query("delete from eventstore.event where stream = 'deleted-3' and revision = 0");
    expect(await verify({ ...gone, event: event! })).toEqual({ ...gone, event });
    expect(await verify(gone)).toEqual(gone);
    const foreign = { id: 'other', stream: 'thing-3' };
    for (const position of [gone, other])
      await expect(verify({ ...position, event: foreign })).rejects.toThrow(
        `does not have event other of thing-3 at checkpoint things.relay (position ${position.commit}), so it is older or another one: correct the address`,
      );
  });

  test('is beyond the end of an older store', async () => {
    const { commit, prepare } = await record('thing-4');
    const later = { commit: String(BigInt(commit) + 1n), prepare: String(BigInt(prepare) + 1n) };
    expect(await checkPosition(client, later)).toEqual({ status: 'beyond-end' });
    await expect(verify(later)).rejects.toThrow(
      `ends before checkpoint things.relay (position ${later.commit}), so it was restored from an older backup: restore a newer one`,
    );
  });
});

test('one checkpoint that does not know the store is enough to refuse it', async () => {
  const position = await record('thing-5');
  await insert('a', position, 'sto_1');
  await insert('b', position);
  await requireKnownStore(client, pool, 'things');
  await insert('c', null, 'sto_2');
  await expect(requireKnownStore(client, pool, 'things')).rejects.toThrow('is sto_1, but the checkpoints');
});

test('a stream is known by its first event, also after its deletion', async () => {
  await record('known-1');
  await record('known-2');
  await tombstone(client, 'known-2');
  expect(await isKnownStream(client, 'known-1')).toBe(true);
  expect(await isKnownStream(client, 'known-2')).toBe(true);
  expect(await isKnownStream(client, 'known-3')).toBe(false);
});

test('the first event of some prefixes is found among the events of others and deletions', async () => {
  await record('gone-1');
  await tombstone(client, 'gone-1');
  expect(await firstEventData(client, ['gone-', 'never-'])).toBeNull();
  await record('early-1', { n: 1 });
  await record('later-1', { n: 2 });
  expect(await firstEventData(client, ['later-'])).toEqual({ n: 2 });
  expect(await firstEventData(client, ['later-', 'early-', 'gone-'])).toEqual({ n: 1 });
});

test('an unavailable store has no first event, and says so', async () => {
  const nowhere = connectEventStore('esdb://127.0.0.1:1?tls=false&maxDiscoverAttempts=1');
  await expect(firstEventData(nowhere, ['later-'])).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await nowhere.dispose();
});
