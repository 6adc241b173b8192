import { createLogger } from '@cpg/platform';
import { createPool } from '@cpg/platform/postgres';
import { jsonEvent } from '@eventstore/db-client';
import { startTallies } from '../testing/jest-tallies.ts';
import {
  checkpointsInUse,
  type OrderingKeyOf,
  retiredCheckpoints,
  shardOf,
  type ShardedOptions,
  subscribeInShards,
} from './shards.ts';
import { until } from '../testing/jest-until.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const ORDERS = ['a', 'b', 'c', 'd', 'e', 'f'];
const RELAY = { schema: 'tallies', name: 'relay' };

let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeAll(async () => {
  tallies = await startTallies();
  const { client } = tallies.options();
  for (const order of ORDERS)
    for (const prefix of ['tally', 'erasure'])
      await client.appendToStream(`${prefix}-${order}`, jsonEvent({ type: 'Tallied', data: {} }));
});
afterAll(() => tallies.stop());
beforeEach(() => tallies.pool.query('truncate tallies.checkpoints'));

/** A subscription that notes which checkpoint handles which stream. */
const start = (shards: number, changes: Partial<ShardedOptions> = {}) => {
  const { client, databaseUrl } = tallies.options();
  const handled = new Map<string, Set<string>>();
  const { stop } = subscribeInShards(
    { client, pool: tallies.pool, databaseUrl, ...RELAY, prefixes: ['tally-', 'erasure-'], log, shards, ...changes },
    (checkpoint) => ({
      handle: async (events) => {
        const streams = handled.get(checkpoint) ?? new Set();
        handled.set(checkpoint, streams);
        for (const { event } of events) streams.add(event!.streamId);
      },
      handleParked: async () => {},
    }),
  );
  return { stop, handled, count: () => [...handled.values()].reduce((sum, { size }) => sum + size, 0) };
};

test('the events of one order are in one shard, whatever their stream is named', async () => {
  const { stop, handled, count } = start(3);
  await until(() => count() === 2 * ORDERS.length);
  await stop();
  const [own, expected] = [[] as string[][], [] as string[][]];
  for (const shard of [0, 1, 2]) {
    const orders = ORDERS.filter((order) => shardOf(order, 3) === shard);
    expected.push(orders.flatMap((order) => [`erasure-${order}`, `tally-${order}`]).toSorted());
    own.push([...(handled.get(`relay-${shard + 1}-of-3`) ?? [])].toSorted());
  }
  expect(own).toEqual(expected);
});

test('an event whose order is unknown is handled by every shard', async () => {
  const orderingKeyOf: OrderingKeyOf = async ({ event }) => (event!.streamId === 'tally-a' ? null : 'one');
  const { stop, handled, count } = start(2, { orderingKeyOf });
  await until(() => count() === 2 * ORDERS.length + 1);
  await stop();
  expect([...handled.values()].map(({ size }) => size).toSorted()).toEqual([1, 2 * ORDERS.length].toSorted());
});

test('processes share the shards', async () => {
  const first = start(2);
  await until(() => first.count() === 2 * ORDERS.length);
  const second = start(2);
  await until(() => second.handled.size > 0);
  await second.stop();
  await first.stop();
});

test('the checkpoints of a subscription are told from others by their names', async () => {
  await tallies.pool.query(
    `insert into tallies.checkpoints (name, epoch, retired_at) values
       ('relay', 1, now()), ('relay-1-of-2', 1, null), ('relay-2-of-2', 1, null), ('relay-1-of-3', 1, now()),
       ('relays', 1, null), ('my-relay', 1, null), ('relay-x', 1, null), ('projection', 1, null)`,
  );
  expect(await checkpointsInUse(tallies.pool, RELAY)).toEqual(['relay-1-of-2', 'relay-2-of-2']);
  expect((await retiredCheckpoints(tallies.pool, RELAY)).toSorted()).toEqual(['relay', 'relay-1-of-3']);
  expect(await checkpointsInUse(tallies.pool, { ...RELAY, name: 'projection' })).toEqual(['projection']);
  expect(await checkpointsInUse(tallies.pool, { ...RELAY, name: 'never' })).toEqual([]);
});

describe('another number of shards', () => {
  const insert = (name: string, commit: number | null, prepare = commit) =>
    tallies.pool.query(
      `insert into tallies.checkpoints (name, epoch, commit_position, prepare_position, store_id, event_id, event_stream)
       values ($1, 5, $2, $3, 'sto_1', $4, 'tally-a')`,
      [name, commit, prepare, `event-${commit}-${prepare}`],
    );
  const stored = async () =>
    (
      await tallies.pool.query<{ row: string }>(
        `select concat_ws(' ', name, epoch, coalesce(commit_position::text, 'start'), store_id, event_id, event_stream,
                          case when retired_at is not null then 'retired' end) as row
         from tallies.checkpoints order by name`,
      )
    ).rows.map(({ row }) => row);
  /** Divides the subscription, and reads nothing: its store is another one. */
  const divide = async (shards: number) => {
    const lines: unknown[] = [];
    const store = { untilKnown: () => new Promise<void>(() => {}), recheck: () => {} };
    const listening = { ...log, info: (...line: unknown[]) => void lines.push(line) } as never;
    const before = await stored();
    const { stop } = start(shards, { store, log: listening });
    await until(async () => (await checkpointsInUse(tallies.pool, RELAY)).length === shards);
    await stop();
    return { lines: lines.filter((line) => JSON.stringify(line).includes('divided')), before };
  };

  test('begins at the lowest of the earlier checkpoints, which are retired', async () => {
    await insert('relay-1-of-2', 300);
    await insert('relay-2-of-2', 90);
    await insert('projection', 7);
    const { lines } = await divide(3);
    const rows = await stored();
    expect(rows.filter((row) => !row.includes('-of-3'))).toEqual([
      'projection 5 7 sto_1 event-7-7 tally-a',
      'relay-1-of-2 6 300 sto_1 event-300-300 tally-a retired',
      'relay-2-of-2 6 90 sto_1 event-90-90 tally-a retired',
    ]);
    for (const row of rows.filter((each) => each.includes('-of-3')))
      expect(row).toMatch(/^relay-\d-of-3 \d 90 sto_1 event-90-90 tally-a$/);
    expect(lines).toEqual([[{ subscription: 'tallies.relay', shards: 3 }, 'divided into another number of shards']]);
  });

  test.each([
    ['one that has read nothing yet', null, null, 'start sto_1 event-null-null tally-a'],
    ['the one with the lower second part', 300, 299, '300 sto_1 event-300-299 tally-a'],
  ])('begins at %s', async (_, commit, prepare, place) => {
    await insert('relay-1-of-2', 300);
    await insert('relay-2-of-2', commit, prepare);
    await divide(1);
    expect((await stored())[0]).toMatch(new RegExp(`^relay \\d ${place}$`));
  });

  test('takes an earlier division into use again, at the new place and under a new epoch', async () => {
    await insert('relay', 10);
    await tallies.pool.query('update tallies.checkpoints set retired_at = now()');
    for (const name of ['relay-1-of-2', 'relay-2-of-2']) await insert(name, 500);
    await divide(1);
    const [relay, ...earlier] = await stored();
    expect(relay).toMatch(/^relay [67] 500 sto_1 event-500-500 tally-a$/);
    expect(earlier).toEqual([1, 2].map((n) => `relay-${n}-of-2 6 500 sto_1 event-500-500 tally-a retired`));
  });

  test('ends the leaders of the earlier shards', async () => {
    await insert('relay', 10);
    const leader = createPool({ url: tallies.databaseUrl, name: 'leader tallies.relay', max: 1, log });
    const { rows } = await leader.query<{ pid: number }>('select pg_backend_pid() as pid');
    await divide(2);
    const isAlive = async () =>
      (await tallies.pool.query('select from pg_stat_activity where pid = $1', [rows[0]!.pid])).rowCount;
    await until(async () => (await isAlive()) === 0);
    await leader.end();
  });

  test.each([1, 2])('the same number, %i, changes nothing', async (shards) => {
    for (const name of shards === 1 ? ['relay'] : ['relay-1-of-2', 'relay-2-of-2']) await insert(name, 42);
    const { lines, before } = await divide(shards);
    const withoutEpochs = (all: string[]) => all.map((row) => row.replace(/ \d+ /, ' '));
    expect([withoutEpochs(await stored()), lines]).toEqual([withoutEpochs(before), []]);
  });

  test('a new subscription begins at the start, and is no change', async () => {
    const { lines } = await divide(2);
    for (const row of await stored()) expect(row).toMatch(/^relay-\d-of-2 \d start$/);
    expect(lines).toEqual([]);
  });
});
