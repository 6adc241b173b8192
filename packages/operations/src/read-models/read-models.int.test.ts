import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Projection, readVersion, UnreadableEventError, writeVersion } from '@cpg/event-sourcing';
import { createLogger, untilAborted } from '@cpg/platform';
import { migrate, withAdvisoryLock } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { ensureVersion, rebuild, rebuildOutdated } from './rebuild.ts';
import { ProjectionBusyError, ProjectionError, withShadowTables } from './shadow-tables.ts';
import { verify, verifyCounts } from './verify.ts';

// A trigger counts the tallies of a merchant, as services count orders.
const COUNTS = `
alter table tallies add column merchant_id text not null default 'mer_1';
alter table tallies add column created_at timestamptz not null default '2026-01-31T23:30:00Z';
create table tally_counts (merchant_id text, day date, n int not null, primary key (merchant_id, day));
create function count_tallies() returns trigger language plpgsql set search_path from current as $$
begin
  insert into tally_counts as counted
    select new.merchant_id, days.day, 1 from (values ((new.created_at at time zone 'UTC')::date), ('-infinity')) as days (day)
    on conflict (merchant_id, day) do update set n = counted.n + 1;
  return null;
end $$;
create trigger count_tallies after insert on tallies for each row execute function count_tallies();`;

let tallies: Awaited<ReturnType<typeof startTallies>>;
let projection: Projection;

beforeAll(async () => {
  tallies = await startTallies();
  writeFileSync(join(tallies.migrations, '002-counts.sql'), COUNTS);
  await migrate(tallies.pool, { schema: 'tallies', folder: tallies.migrations });
  projection = {
    ...tallies.projection,
    counts: [{ name: 'tally_counts', of: 'tallies', keys: [], where: 'not deleted' }],
  };
  for (const id of ['a', 'b', 'c']) for (const n of [1, 2]) await tallies.tally(id, n);
});
afterAll(() => tallies.stop());

const options = (changes: Partial<Parameters<typeof rebuild>[0]> = {}) => tallies.options({ projection, ...changes });
const nameOf = ({ event }: AllStreamResolvedEvent) => `${event!.streamId}#${event!.revision}`;
const numbers = async () => Object.fromEntries((await tallies.rows()).map(({ id, n }) => [id, n]));
const RIGHT = { a: 2, b: 2, c: 2 };
const corrupt = (set: string, where: string) => tallies.pool.query(`update tallies.tallies set ${set} where ${where}`);

describe('a verification', () => {
  afterEach(() => rebuild(options()));

  test('finds nothing where rows and counts are right, whatever leases say', async () => {
    await corrupt("seen_by = 'an instance'", "id = 'a'");
    expect(await verify(options())).toEqual({ rows: 3, differ: 0, differences: [] });
  });

  test('names rows and counts that differ, with both sides', async () => {
    await corrupt('n = 7', "id = 'a'");
    await tallies.pool.query(`delete from tallies.tallies where id = 'b'`);
    await tallies.pool.query(`insert into tallies.tallies (id, n, revision) values ('never', 1, 1)`);
    await tallies.pool.query(`update tallies.tally_counts set n = 9 where day = '2026-01-31'`);
    const { rows, differ, differences } = await verify(options());
    expect([rows, differ]).toEqual([3, 5]);
    const table = 'tallies.tallies';
    expect(differences).toEqual([
      { table, id: 'a', live: expect.objectContaining({ n: 7 }), replayed: expect.objectContaining({ n: 2 }) },
      { table, id: 'b', live: null, replayed: expect.objectContaining({ n: 2 }) },
      { table, id: 'never', live: expect.objectContaining({ n: 1 }), replayed: null },
      { table: 'tallies.tally_counts', id: 'mer_1 -infinity', live: { n: 4 }, replayed: { n: 3 } },
      { table: 'tallies.tally_counts', id: 'mer_1 2026-01-31', live: { n: 9 }, replayed: { n: 3 } },
    ]);
  });

  test('takes a row that was only late for right', async () => {
    await corrupt('n = 7', "id = 'a'");
    const { apply } = projection;
    let looks = 0;
    const late: Projection['apply'] = async (...args) => {
      await apply(...args);
      // The log is read again before the second comparison.
      if ((looks += 1) === 2) await corrupt('n = 2', "id = 'a'");
    };
    expect(await verify(options({ projection: { ...projection, apply: late } }))).toMatchObject({ rows: 3, differ: 0 });
  });

  test.each([
    ['a count that is missing', "delete from tallies.tally_counts where day = '-infinity'", null, { n: 3 }],
    ['a count without rows', "insert into tallies.tally_counts values ('mer_0', '-infinity', 2)", { n: 2 }, null],
  ])('tells %s', async (_, statement, live, replayed) => {
    await tallies.pool.query(statement);
    expect(await verifyCounts(tallies.pool, projection)).toMatchObject({
      differ: 1,
      differences: [{ live, replayed }],
    });
  });

  test('a count of zero is no count', async () => {
    await tallies.pool.query("insert into tallies.tally_counts values ('mer_0', '-infinity', 0)");
    expect(await verifyCounts(tallies.pool, projection)).toEqual({ differ: 0, differences: [] });
    expect(await verifyCounts(tallies.pool, tallies.projection)).toEqual({ differ: 0, differences: [] });
  });
});

describe('a rebuild', () => {
  test('replaces wrong rows and counts, and triggers count on in the live tables', async () => {
    await corrupt('n = 7', 'true');
    await tallies.pool.query('update tallies.tally_counts set n = 9');
    await rebuild(options());
    expect(await numbers()).toEqual(RIGHT);
    expect((await verifyCounts(tallies.pool, projection)).differ).toBe(0);
    expect(await tallies.shadowSchemas()).toBe(0);
    await tallies.pool.query("insert into tallies.tallies (id, n, revision) values ('counted', 1, 1)");
    expect((await verifyCounts(tallies.pool, projection)).differ).toBe(0);
    await rebuild(options());
    expect(await numbers()).toEqual(RIGHT);
  });

  test('keeps grants, and those that may be passed on', async () => {
    const role = `auditor_${process.pid}`;
    await tallies.pool.query(`create role ${role}`);
    await tallies.pool.query(`grant select on tallies.tallies, tallies.tally_counts to ${role}`);
    await tallies.pool.query(`grant insert on tallies.tallies to ${role} with grant option`);
    await tallies.pool.query('grant select on tallies.tallies to public');
    const grants = async () =>
      (
        await tallies.pool.query(
          "select relname, relacl::text from pg_class where relnamespace = 'tallies'::regnamespace and relacl is not null order by 1",
        )
      ).rows;
    const before = await grants();
    expect(before).toHaveLength(2);
    await rebuild(options());
    expect(await grants()).toEqual(before);
    await tallies.pool.query(`drop owned by ${role}`);
    await tallies.pool.query(`drop role ${role}`);
  });

  test('applies what was recorded while it ran', async () => {
    const { apply } = projection;
    let looks = 0;
    const recording: Projection['apply'] = async (...args) => {
      await apply(...args);
      if ((looks += 1) === 1) await tallies.tally('meanwhile', 5);
    };
    await rebuild(options({ projection: { ...projection, apply: recording } }));
    expect(await numbers()).toEqual({ ...RIGHT, meanwhile: 5 });
  });

  test('leaves the live tables alone if it is stopped', async () => {
    const stopping = new AbortController();
    const { apply } = projection;
    const stopped: Projection['apply'] = async (...args) => {
      await apply(...args);
      stopping.abort(new Error('stopped'));
    };
    await corrupt('n = 7', "id = 'a'");
    const rebuilding = rebuild(options({ projection: { ...projection, apply: stopped }, signal: stopping.signal }));
    await expect(rebuilding).rejects.toThrow('stopped');
    expect(await numbers()).toMatchObject({ a: 7 });
    expect(await tallies.shadowSchemas()).toBe(0);
    await rebuild(options());
  });

  test('waits for a reader of the tables, and then for one more try', async () => {
    const reader = await tallies.pool.connect();
    await reader.query('begin');
    await reader.query('lock table tallies.tallies in row exclusive mode');
    const { apply } = projection;
    let looks = 0;
    const counting: Projection['apply'] = async (...args) => {
      await apply(...args);
      // The second reading of the log comes right before the first swap, the third one after its failure.
      if ((looks += 1) === 3) await reader.query('commit');
    };
    await rebuild(options({ projection: { ...projection, apply: counting } }));
    reader.release();
    expect(looks).toBeGreaterThanOrEqual(4);
    expect(await numbers()).toMatchObject(RIGHT);
  });

  test('does not swap what another version has migrated meanwhile', async () => {
    const { apply } = projection;
    let looks = 0;
    const migrating: Projection['apply'] = async (...args) => {
      await apply(...args);
      if ((looks += 1) === 1)
        await tallies.pool.query("insert into tallies.migrations (number, name, hash) values (3, 'later', 'h')");
    };
    await expect(rebuild(options({ projection: { ...projection, apply: migrating } }))).rejects.toThrow(
      'the tables of tallies belong to another version: rebuild with the version that is running',
    );
    await tallies.pool.query('delete from tallies.migrations where number = 3');
  });

  test('leaves a row as of the last event that can be read, and goes on with the others', async () => {
    const { apply } = projection;
    const unreadable: Projection['apply'] = async (db, events, schema) => {
      const found = events.find((entry) => nameOf(entry) === 'tally-b#1');
      if (found) throw new UnreadableEventError({ stream: 'tally-b', revision: 1, type: 'Tallied' }, 'why');
      await apply(db, events, schema);
    };
    const told: string[] = [];
    const onUnreadable = ({ stream }: UnreadableEventError) => void told.push(stream);
    await rebuild(options({ projection: { ...projection, apply: unreadable }, onUnreadable }));
    expect(await numbers()).toMatchObject({ a: 2, b: 1, c: 2 });
    expect(told).toEqual(['tally-b']);
    await rebuild(options());
    expect(await numbers()).toMatchObject(RIGHT);
  });

  test('ends with a bug, and leaves no shadow tables', async () => {
    const broken: Projection['apply'] = async () => {
      throw new TypeError('a bug');
    };
    await expect(rebuild(options({ projection: { ...projection, apply: broken } }))).rejects.toThrow('a bug');
    expect(await tallies.shadowSchemas()).toBe(0);
  });

  test('writes the version of its projection', async () => {
    await rebuild(options({ projection: { ...projection, version: 4 } }));
    expect(await readVersion(tallies.pool, projection)).toBe(4);
    await writeVersion(tallies.pool, projection);
  });
});

describe('shadow tables', () => {
  test('belong to one process at a time, for each projection', async () => {
    const busy = (name: string, work: () => Promise<unknown>) => {
      const lock = `shadow ${name}`;
      return withAdvisoryLock({ url: tallies.databaseUrl, applicationName: lock, lock }, work);
    };
    await busy('tallies.tallies', async () => {
      const refused = rebuild(options());
      await expect(refused).rejects.toBeInstanceOf(ProjectionBusyError);
      await expect(refused).rejects.toThrow(
        'tallies.tallies is being rebuilt or verified by another process: wait until it has finished',
      );
    });
    await busy('tallies.others', () => rebuild(options()));
  });

  test('of a named projection have a schema of their own', async () => {
    const schemas: string[] = [];
    const note = async ({ schema }: { schema: string }) => void schemas.push(schema);
    await withShadowTables(options(), note);
    await withShadowTables(options({ projection: { ...projection, name: 'projection' } }), note);
    await withShadowTables(options({ projection: { ...projection, name: 'more' } }), note);
    expect(schemas).toEqual(['tallies_shadow', 'tallies_shadow', 'tallies_more_shadow']);
  });

  test('tell their work when their connection is lost', async () => {
    const lost = withShadowTables(options(), async ({ session }, signal) => {
      const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
      await tallies.pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
      await untilAborted(signal);
      signal.throwIfAborted();
    });
    await expect(lost).rejects.toThrow();
    await rebuild(options());
  });

  test('of tables that do not exist yet ask to start the service first', async () => {
    const tables = ['tallies', 'never'] as const;
    const missing = rebuild(options({ projection: { ...projection, tables } }));
    await expect(missing).rejects.toBeInstanceOf(ProjectionError);
    await expect(missing).rejects.toThrow('tallies.never does not exist yet: start its service first');
  });

  test('are made anew where a crashed process left some', async () => {
    await tallies.pool.query('create schema tallies_shadow; create table tallies_shadow.tallies (id text)');
    await rebuild(options());
    expect(await numbers()).toMatchObject(RIGHT);
  });

  test('tell how far they are, every 5000 events', async () => {
    const told: number[] = [];
    const events = (count: number, streamId: string) =>
      Array.from({ length: count }, () => ({
        event: { streamId, created: new Date(0), position: { commit: 1n, prepare: 1n } },
      }));
    const client = {
      readAll: () => ({
        destroy: () => {},
        [Symbol.asyncIterator]: () => events(10_300, 'tally-a')[Symbol.iterator](),
      }),
    };
    const quiet = { ...projection, apply: async () => {} };
    const onProgress = (count: number, upTo: Date) => void told.push(count, upTo.getTime());
    await withShadowTables(options({ client: client as never, projection: quiet, onProgress }), async () => {});
    expect(told).toEqual([5_120, 0, 10_240, 0]);
  });
});

describe('the version of live tables', () => {
  const log = createLogger({ name: 'test', level: 'silent' });
  afterEach(() => writeVersion(tallies.pool, projection));

  /** Starts a rebuild of outdated tables by a version of the projection, and collects what it logs. */
  const startRebuild = (version: number) => {
    const lines: string[] = [];
    const note = (_: unknown, text: string) => void lines.push(text);
    const { signal: _, ...rest } = options();
    const { stop } = rebuildOutdated({
      ...rest,
      projection: { ...projection, version },
      pool: tallies.pool,
      log: { ...log, info: note, warn: note, error: note } as never,
    });
    return { lines, stop };
  };
  const REBUILT = ['read model is of an earlier version, rebuilding', 'read model rebuilt'];

  test.each([
    [1, 1, []],
    [2, 1, []],
    [1, 2, REBUILT],
  ])('tables of version %i, started by version %i, are rebuilt: %j', async (built, version, expected) => {
    await writeVersion(tallies.pool, { ...projection, version: built });
    expect(await ensureVersion(tallies.pool, { ...projection, version })).toBe(built);
    const { lines, stop } = startRebuild(version);
    while (((await readVersion(tallies.pool, projection)) ?? 0) < version)
      await new Promise((done) => setTimeout(done, 5));
    await stop();
    expect(lines).toEqual(expected);
  });

  test('tables with rows and without a version are of an earlier one, and are rebuilt once', async () => {
    await tallies.pool.query('delete from tallies.projection_versions');
    expect(await ensureVersion(tallies.pool, projection)).toBeNull();
    await corrupt('n = 7', "id = 'a'");
    const first = startRebuild(projection.version);
    while ((await readVersion(tallies.pool, projection)) === null) await new Promise((done) => setTimeout(done, 5));
    await first.stop();
    expect(await numbers()).toMatchObject({ a: 2 });
    const second = startRebuild(projection.version);
    await second.stop();
    expect([first.lines, second.lines]).toEqual([REBUILT, []]);
  });
});
