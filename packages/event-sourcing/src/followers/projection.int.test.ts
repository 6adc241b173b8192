import { createLogger } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { startTallies } from '../testing/jest-tallies.ts';
import {
  nameOf,
  type Projection,
  readVersion,
  startProjection,
  tablesOf,
  withoutProjected,
  writeVersion,
} from './projection.ts';
import { until } from '../testing/jest-until.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeAll(async () => {
  tallies = await startTallies();
});
afterAll(() => tallies.stop());
beforeEach(() => tallies.pool.query('truncate tallies.tallies, tallies.checkpoints, tallies.projection_versions'));

/** Records an event, and no row. */
const record = async (id: string, n: number) => {
  await tallies.tally(id, n);
  await tallies.pool.query('truncate tallies.tallies');
};
const start = (projection: Projection, beforeProjecting?: (events: AllStreamResolvedEvent[]) => Promise<void>) => {
  const { client, databaseUrl } = tallies.options();
  return startProjection({
    client,
    pool: tallies.pool,
    databaseUrl,
    projection,
    log,
    ...(beforeProjecting && { beforeProjecting }),
  });
};
const checkpoints = async () =>
  (await tallies.pool.query('select name, commit_position from tallies.checkpoints order by name')).rows as {
    name: string;
    commit_position: string | null;
  }[];

test('writes the rows that events lack, after the work that comes before', async () => {
  await record('first', 1);
  await record('first', 2);
  const steps: string[] = [];
  const { projection } = tallies;
  const apply: Projection['apply'] = async (...args) => {
    steps.push('apply');
    await projection.apply(...args);
  };
  const running = start({ ...projection, apply }, async (events) => void steps.push(`before ${events.length}`));
  await until(async () => (await tallies.revisionOf('first')) === 1);
  await running.stop();
  // A busy machine may hand the events over one by one.
  const alone = ['before 1', 'apply'];
  expect([
    ['before 2', 'apply'],
    [...alone, ...alone],
  ]).toContainEqual(steps);
  expect(await checkpoints()).toEqual([{ name: 'projection', commit_position: expect.any(String) }]);
});

test('rows and checkpoint commit together', async () => {
  await record('together', 1);
  const { projection, pool } = tallies;
  const rowsBefore: unknown[] = [];
  const apply: Projection['apply'] = async (...args) => {
    rowsBefore.push(await tallies.rows());
    await projection.apply(...args);
    // Another leader has taken over: the checkpoint is refused, and the rows with it.
    if (rowsBefore.length === 1) await pool.query('update tallies.checkpoints set epoch = epoch + 1');
  };
  const running = start({ ...projection, apply });
  await until(async () => (await tallies.revisionOf('together')) === 0);
  await running.stop();
  expect(rowsBefore.slice(0, 2)).toEqual([[], []]);
  expect(await checkpoints()).toEqual([{ name: 'projection', commit_position: expect.any(String) }]);
});

test('a projection that is whole has one shard, whatever the service has', async () => {
  const { client, databaseUrl } = tallies.options();
  const options = { client, pool: tallies.pool, databaseUrl, log, shards: 3 };
  const whole = startProjection({ ...options, projection: { ...tallies.projection, name: 'whole', isWhole: true } });
  const split = startProjection({ ...options, projection: { ...tallies.projection, name: 'split' } });
  await until(async () => (await checkpoints()).length === 4);
  expect((await checkpoints()).map(({ name }) => name)).toEqual([
    'split-1-of-3',
    'split-2-of-3',
    'split-3-of-3',
    'whole',
  ]);
  await whole.stop();
  await split.stop();
});

test('a parked event is handled alone, with the work before it', async () => {
  await record('parked', 1);
  await tallies.pool.query(
    `insert into tallies.parked_streams (subscription, stream, revision) values ('projection', 'tally-parked', 0)`,
  );
  const before: string[] = [];
  const running = start(tallies.projection, async (events) => {
    before.push(events.map(({ event }) => event!.streamId).join(' '));
  });
  await until(async () => (await tallies.pool.query('select from tallies.parked_streams')).rowCount === 0);
  expect(before[0]).toBe('tally-parked');
  expect(await tallies.revisionOf('parked')).toBe(0);
  await running.stop();
});

test('the version of a projection is that of its first table', async () => {
  const { pool, projection } = tallies;
  const other = { ...projection, tables: ['others', 'tallies'] as const, version: 7 };
  expect(await readVersion(pool, projection)).toBeNull();
  await writeVersion(pool, projection);
  await writeVersion(pool, other);
  await writeVersion(pool, { ...projection, version: 2 });
  expect(await readVersion(pool, projection)).toBe(2);
  expect(await readVersion(pool, other)).toBe(7);
  expect([nameOf(other), tablesOf(other)]).toEqual(['tallies.others', ['tallies.others', 'tallies.tallies']]);
});

test('leaves out the events that rows include, and no others', async () => {
  const entry = (streamId: string, revision: number) =>
    ({ event: { streamId, revision: BigInt(revision) } }) as AllStreamResolvedEvent;
  await tallies.pool.query("insert into tallies.tallies (id, n, revision) values ('a', 0, 1), ('c', 0, 5)");
  const events = [
    entry('tally-a', 1),
    entry('tally-a', 2),
    entry('tally-b', 0),
    entry('other-c', 0),
    entry('tally-a', 0),
  ];
  const left = await withoutProjected(tallies.pool, 'tallies.tallies', 'tally-', events);
  expect(left.map(({ event }) => `${event!.streamId} ${event!.revision}`)).toEqual([
    'tally-a 2',
    'tally-b 0',
    'other-c 0',
  ]);
});
