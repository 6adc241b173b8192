import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/platform';
import { readVersion } from '@cpg/event-sourcing';
import { rebuild, rebuildOutdated } from './rebuild.ts';
import { ProjectionError } from './shadow-tables.ts';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';

let tallies: Awaited<ReturnType<typeof startTallies>>;

beforeEach(async () => {
  tallies = await startTallies();
});

afterEach(() => tallies.stop());

const log = createLogger({ name: 'tallies', level: 'silent' });

const projectionOf = (version: number) => ({ ...tallies.projection, version });

const startVersion = (version: number, observed: Partial<Parameters<typeof rebuildOutdated>[0]> = {}) => {
  const { signal: _, ...options } = tallies.options({ projection: projectionOf(version) });
  return rebuildOutdated({ ...options, pool: tallies.pool, log, ...observed });
};

const recordedVersion = () => readVersion(tallies.pool, tallies.projection);

const reaches = async (version: number) => {
  while ((await recordedVersion()) !== version) await sleep(10);
};

const tableId = async () => (await tallies.pool.query("select 'tallies.tallies'::regclass::oid as id")).rows[0].id;

test('does not rebuild empty tables: the current version fills them', async () => {
  const before = await tableId();
  const work = startVersion(1);
  await reaches(1);
  await work.stop();
  expect(await tableId()).toBe(before);
});

test('rebuilds tables that were built before versions were recorded, and then no more', async () => {
  await tallies.tally('one', 7);
  await tallies.pool.query('update tallies.tallies set n = 8');
  const work = startVersion(1);
  await reaches(1);
  await work.stop();
  expect(await tallies.rows()).toMatchObject([{ id: 'one', n: 7 }]);
  const rebuilt = await tableId();
  await startVersion(1).stop();
  expect(await tableId()).toBe(rebuilt);
});

test('instances that start together rebuild once, and an earlier version leaves the tables alone', async () => {
  const first = startVersion(1);
  await reaches(1);
  await first.stop();
  await tallies.tally('one', 7);
  await tallies.pool.query('update tallies.tallies set n = 8');
  const instances = [startVersion(2), startVersion(2), startVersion(2)];
  await reaches(2);
  const rebuilt = await tableId();
  await Promise.all(instances.map((instance) => instance.stop()));
  // Once it has read the recorded version, it would begin to rebuild, and say so.
  let reads = 0;
  const query = async (text: string, values: unknown[]) => {
    const answer = await tallies.pool.query(text, values);
    reads += 1;
    return answer;
  };
  const said: unknown[] = [];
  const earlier = startVersion(1, {
    pool: { ...tallies.pool, query } as never,
    log: { ...log, info: (_: unknown, text: string) => void said.push(text) } as never,
  });
  while (reads === 0) await sleep(10);
  await earlier.stop();
  expect(said).toEqual([]);
  expect([await recordedVersion(), await tableId()]).toEqual([2, rebuilt]);
  expect(await tallies.rows()).toMatchObject([{ n: 7 }]);
});

test('a rebuild that fails is tried again, and each cause is logged once', async () => {
  const faults = ['away', 'away', 'full', 'full'];
  const query = async (text: string, values: unknown[]) => {
    const fault = faults.shift();
    if (fault !== undefined) throw new Error(fault);
    return tallies.pool.query(text, values);
  };
  const warned: string[] = [];
  const work = startVersion(1, {
    pool: { ...tallies.pool, query, connect: () => tallies.pool.connect() } as never,
    log: { ...log, warn: ({ err }: { err: Error }) => void warned.push(err.message) } as never,
    wait: async () => {},
  });
  await reaches(1);
  await work.stop();
  expect(warned).toEqual(['away', 'full']);
});

test('a published view keeps its grants, and shows the rebuilt table and what is written to it', async () => {
  const shown = async () => (await tallies.pool.query('select id, n from tallies.api_tallies order by id')).rows;
  const privileges = async () =>
    (await tallies.pool.query("select relacl::text from pg_class where oid = 'tallies.api_tallies'::regclass")).rows;
  await tallies.pool.query('grant select on tallies.api_tallies to public');
  const granted = await privileges();
  await tallies.tally('one', 7);
  await tallies.pool.query('update tallies.tallies set n = 8');
  const before = await tableId();
  await rebuild(tallies.options());
  expect(await tableId()).not.toBe(before);
  expect(await shown()).toEqual([{ id: 'one', n: 7 }]);
  await tallies.tally('one', 9);
  expect(await shown()).toEqual([{ id: 'one', n: 9 }]);
  expect(await privileges()).toEqual(granted);
});

test('a role that may not create tables lets the owner rebuild them', async () => {
  const role = `role_${randomBytes(6).toString('hex')}`;
  await tallies.pool.query(`create role ${role} login password 'secret'; grant usage on schema tallies to ${role}`);
  const url = new URL(tallies.databaseUrl);
  url.username = role;
  url.password = 'secret';
  const refusal = await rebuild(tallies.options({ databaseUrl: url.toString() })).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ProjectionError);
  expect((refusal as Error).message).toMatch(/tallies\.tallies with the DATABASE_URL of the owner/);
});
