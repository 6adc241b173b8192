import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/platform';
import { createPool, transaction } from '@cpg/platform/postgres';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { endOfLog } from '../store/log.ts';
import type { LogPosition } from '../store/recorded.ts';
import { startTallies } from '../testing/jest-tallies.ts';
import { acquireCheckpoint, endLeaders, FencedError, moveCheckpoint, RetiredError } from './checkpoint.ts';
import { UnknownStoreError, writeStoreIdentity } from './known-store.ts';

const STORE = 'sto_1';
let tallies: Awaited<ReturnType<typeof startTallies>>;
let client: EventStoreDBClient;
let first: LogPosition;
let second: LogPosition;

beforeAll(async () => {
  tallies = await startTallies();
  ({ client } = tallies.options());
  await writeStoreIdentity(client, { storeId: STORE, environment: 'sandbox', at: '2026-01-01T00:00:00.000Z' }, 'test');
  const record = async () => {
    await client.appendToStream('tally-a', jsonEvent({ type: 'Tallied', data: {} }));
    return (await endOfLog(client))!;
  };
  [first, second] = [await record(), await record()];
});
afterAll(() => tallies.stop());
beforeEach(() => tallies.pool.query('truncate tallies.checkpoints'));

const acquire = (name = 'relay') => acquireCheckpoint(tallies.pool, { client, schema: 'tallies', name });
const stored = async (name = 'relay') =>
  (
    await tallies.pool.query(
      `select epoch::int, commit_position::text as commit, prepare_position::text as prepare, store_id, event_id,
              event_stream, retired_at, xmin::text as version
       from tallies.checkpoints where name = $1`,
      [name],
    )
  ).rows[0] as Record<string, unknown>;
const rowOf = ({ commit, prepare, event }: LogPosition) => ({
  commit,
  prepare,
  store_id: STORE,
  event_id: event!.id,
  event_stream: event!.stream,
});

test('a new checkpoint is at the start of the log, and keeps what is saved', async () => {
  const checkpoint = await acquire();
  expect(await checkpoint.load()).toBeNull();
  await checkpoint.save(tallies.pool, first);
  await checkpoint.save(tallies.pool, second);
  expect(await stored()).toMatchObject({ epoch: 1, ...rowOf(second) });
  const successor = await acquire();
  expect(await successor.load()).toEqual(second);
  expect(await stored()).toMatchObject({ epoch: 2, ...rowOf(second) });
});

test('a load that learns nothing writes nothing', async () => {
  const checkpoint = await acquire();
  await checkpoint.load();
  await checkpoint.save(tallies.pool, first);
  const { version } = await stored();
  await checkpoint.load();
  expect(await stored()).toMatchObject({ version });
});

test('the next leader fences the earlier one, for loads and for saves, and no other checkpoint', async () => {
  const [old, other] = [await acquire(), await acquire('projection')];
  await old.load();
  await other.load();
  const successor = await acquire();
  await expect(old.load()).rejects.toBeInstanceOf(FencedError);
  await expect(old.save(tallies.pool, first)).rejects.toBeInstanceOf(FencedError);
  expect(await successor.load()).toBeNull();
  await other.save(tallies.pool, first);
  expect(await stored()).toMatchObject({ commit: null });
});

test('a leader whose checkpoint moved without it may not save', async () => {
  const checkpoint = await acquire();
  await checkpoint.load();
  await checkpoint.save(tallies.pool, first);
  // As a PostgreSQL crash does, which loses the last commit.
  await tallies.pool.query('update tallies.checkpoints set commit_position = null');
  await expect(checkpoint.save(tallies.pool, second)).rejects.toThrow('tallies.relay was moved by something else');
  await checkpoint.load();
  await checkpoint.save(tallies.pool, second);
});

test('a checkpoint out of use has no leader, and keeps its epoch', async () => {
  await acquire();
  await tallies.pool.query(`update tallies.checkpoints set retired_at = now()`);
  await expect(acquire()).rejects.toBeInstanceOf(RetiredError);
  expect(await stored()).toMatchObject({ epoch: 1 });
});

test('a checkpoint of another store is not loaded, and not changed', async () => {
  const checkpoint = await acquire();
  await checkpoint.load();
  await checkpoint.save(tallies.pool, first);
  await tallies.pool.query(`update tallies.checkpoints set store_id = 'sto_2'`);
  await expect(checkpoint.load()).rejects.toBeInstanceOf(UnknownStoreError);
  expect(await stored()).toMatchObject({ store_id: 'sto_2', commit: first.commit });
});

describe('a checkpoint moved by an operator', () => {
  const move = (position: LogPosition | null) =>
    transaction(tallies.pool, (db) =>
      moveCheckpoint(db, { schema: 'tallies', name: 'relay', storeId: STORE }, position),
    );

  test.each([
    ['an earlier event', () => first],
    ['the start of the log', () => null],
  ])('goes to %s, fences its leader, and leaves other checkpoints alone', async (_, positionOf) => {
    const position = positionOf();
    const [leader, other] = [await acquire(), await acquire('projection')];
    for (const checkpoint of [leader, other]) {
      await checkpoint.load();
      await checkpoint.save(tallies.pool, second);
    }
    await move(position);
    expect(await stored()).toMatchObject({
      epoch: 2,
      ...(position
        ? rowOf(position)
        : { commit: null, prepare: null, store_id: STORE, event_id: null, event_stream: null }),
    });
    expect(await stored('projection')).toMatchObject({ epoch: 1, ...rowOf(second) });
    await expect(leader.save(tallies.pool, second)).rejects.toBeInstanceOf(FencedError);
    expect(await (await acquire()).load()).toEqual(position);
    expect(await other.load()).toEqual(second);
  });

  /** A session with the name of a leader. */
  const session = async (name: string, url = tallies.databaseUrl) => {
    const leader = createPool({ url, name, max: 1, log: createLogger({ name: 'test', level: 'silent' }) });
    const { rows } = await leader.query<{ pid: number }>('select pg_backend_pid() as pid');
    const isAlive = async () =>
      (await tallies.pool.query('select from pg_stat_activity where pid = $1', [rows[0]!.pid])).rowCount === 1;
    return { isAlive, end: () => leader.end() };
  };

  test('loses its leader at once, and no other role does', async () => {
    const leader = await session('leader tallies.relay');
    const names = ['leader tallies.projection', 'leader other.relay', 'leader tallies.relay-1-of-2'];
    const others = [
      ...(await Promise.all(names.map((name) => session(name)))),
      await session('leader tallies.relay', new URL('/postgres', tallies.databaseUrl).toString()),
    ];
    await acquire();
    await move(null);
    while (await leader.isAlive()) await sleep(10);
    for (const { isAlive } of others) expect(await isAlive()).toBe(true);
    for (const { end } of [leader, ...others]) await end();
  });

  test('several leaders end together', async () => {
    const leaders = await Promise.all(['leader tallies.a', 'leader tallies.b'].map((name) => session(name)));
    await endLeaders(tallies.pool, 'tallies', ['a', 'b']);
    for (const { isAlive, end } of leaders) {
      while (await isAlive()) await sleep(10);
      await end();
    }
  });
});
