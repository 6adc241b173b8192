import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@cpg/postgres';
import type { Projection } from './projection.ts';
import { rebuild } from './rebuild.ts';
import { startTallies } from './testing/jest-tallies.ts';
import { verify } from './verify.ts';

// Enough for a machine that does much else besides.
const SLOW = 120_000;

let tallies: Awaited<ReturnType<typeof startTallies>>;

beforeAll(async () => {
  tallies = await startTallies();
  for (let n = 0; n < 300; n += 1) await tallies.tally(`old-${n % 40}`, n);
  await tallies.remove('old-3');
});

afterAll(() => tallies.stop());

const until = async (look: () => Promise<unknown>) => {
  while (!(await look())) await sleep(10);
};

/** Writers that read back each of their writes at once, until they are told to leave. Resolves with the last number of
 *  each. */
const busyWriters = (name: string, count: number) => {
  let open = true;
  const last = new Map<string, number>();
  const writer = async (which: number) => {
    for (let n = 1; open; n += 1) {
      const id = `${name}-${which}-${n % 5}`;
      const revision = await tallies.tally(id, n);
      last.set(id, n);
      await sleep(5);
      const seen = await tallies.revisionOf(id);
      if (seen === undefined || seen < revision) throw new Error(`${id} was at ${revision}, and is seen at ${seen}`);
    }
  };
  const running = Promise.all(Array.from({ length: count }, (_, which) => writer(which)));
  running.catch(() => {});
  return {
    last,
    leave: async () => {
      open = false;
      await running;
      return last;
    },
  };
};

const names = async () =>
  (
    await tallies.pool.query(
      `select conrelid::regclass::text as of, conname as name from pg_constraint where connamespace = 'tallies'::regnamespace
       union all select indrelid::regclass::text, indexrelid::regclass::text from pg_index where indrelid = 'tallies.tallies'::regclass
       order by 1, 2`,
    )
  ).rows;
const leftovers = async () =>
  (await tallies.pool.query("select 1 from pg_namespace where nspname = 'tallies_beside'")).rowCount;
const spoil = async () => {
  await tallies.pool.query("update tallies.tallies set n = n + 1 where id = 'old-1'");
  await tallies.pool.query("delete from tallies.tallies where id = 'old-2'");
  await tallies.pool.query("insert into tallies.tallies (id, n, revision) values ('never', 1, 1)");
};

test(
  'rebuilt again and again while it is written: each write is seen at once, and every row is right afterwards',
  async () => {
    const before = await names();
    const rows = await tallies.rows();
    await spoil();
    const writers = busyWriters('busy', 6);
    for (let round = 0; round < 5; round += 1) {
      const written = writers.last.size;
      await rebuild(tallies.options());
      await until(async () => writers.last.size >= Math.min(written + 1, 30));
    }
    const last = await writers.leave();
    const now = await tallies.rows();
    expect(now.filter(({ id }) => !id.startsWith('busy'))).toEqual(rows);
    expect(new Map(now.filter(({ id }) => id.startsWith('busy')).map(({ id, n }) => [id, n]))).toEqual(last);
    expect(await names()).toEqual(before);
    expect(await leftovers()).toBe(0);
  },
  SLOW,
);

test(
  'a swap that is kept waiting gives way, and loses nothing of what is written until it comes about',
  async () => {
    const application = 'beside tallies.tallies';
    const waits = async () =>
      (
        await tallies.pool.query(
          "select 1 from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock' and query like 'drop table%'",
          [application],
        )
      ).rowCount;
    const reader = await tallies.pool.connect();
    await reader.query('begin');
    await reader.query('select count(*) from tallies.tallies');
    const writers = busyWriters('waiting', 3);
    const rebuilding = rebuild(tallies.options());
    await until(waits);
    await until(async () => !(await waits()));
    const seen = writers.last.size;
    await until(async () => writers.last.size > seen || writers.last.size === 15);
    await reader.query('commit');
    reader.release();
    await rebuilding;
    const last = await writers.leave();
    const now = await tallies.rows();
    expect(new Map(now.filter(({ id }) => id.startsWith('waiting')).map(({ id, n }) => [id, n]))).toEqual(last);
    expect((await verify(tallies.options())).differ).toBe(0);
  },
  SLOW,
);

describe('dying on the way', () => {
  const statements = ['insert into tallies_beside', 'analyze', 'lock table', 'drop table', 'alter table'];

  test.each(statements)(
    'before "%s": the live table is as it was, and the next rebuild succeeds',
    async (statement) => {
      const before = await tallies.rows();
      const oid = async () => (await tallies.pool.query("select 'tallies.tallies'::regclass::oid as oid")).rows[0].oid;
      const was = await oid();
      await expect(rebuild(dyingAt(statement))).rejects.toThrow(/terminat|connection error/i);
      expect(await tallies.rows()).toEqual(before);
      expect(await oid()).toBe(was);
      await rebuild(tallies.options());
      expect(await tallies.rows()).toEqual(before);
      expect(await oid()).not.toBe(was);
      expect(await leftovers()).toBe(0);
    },
  );

  /** Options whose connection is cut when it is about to run a statement: as its process dies. */
  const dyingAt = (statement: string) => {
    const { projection } = tallies;
    let startupTasks = false;
    const prepare = (session: Session) => {
      const query = session.query.bind(session);
      session.query = async (...args) => {
        const text = typeof args[0] === 'string' ? args[0] : args[0].text;
        if (text.trim().startsWith(statement)) {
          const { rows } = await query('select pg_backend_pid() as pid');
          await tallies.pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
        }
        return query(...args);
      };
    };
    const apply: Projection['apply'] = (db, ...rest) => {
      if (!startupTasks) prepare(db);
      startupTasks = true;
      return projection.apply(db, ...rest);
    };
    return tallies.options({ projection: { ...projection, apply } });
  };
});

interface Session {
  query: (statement: string | { text: string }, values?: unknown[]) => Promise<{ rows: { pid: number }[] }>;
}

test('one at a time', async () => {
  let second: Promise<void> | undefined;
  const { projection } = tallies;
  const apply: Projection['apply'] = async (...args) => {
    second ??= rebuild(tallies.options());
    await second.catch(() => {});
    return projection.apply(...args);
  };
  await rebuild(tallies.options({ projection: { ...projection, apply } }));
  await expect(second).rejects.toThrow('being rebuilt or verified by another process');
});

test('stopped, it leaves the live table and nothing else', async () => {
  const before = await tallies.rows();
  const stopping = new AbortController();
  const { projection } = tallies;
  const apply: Projection['apply'] = async (...args) => {
    await projection.apply(...args);
    stopping.abort(new Error('enough'));
  };
  const options = tallies.options({ projection: { ...projection, apply }, signal: stopping.signal });
  await expect(rebuild(options)).rejects.toThrow('enough');
  expect([await tallies.rows(), await leftovers()]).toEqual([before, 0]);
});

test('who may read the old table may read the new one', async () => {
  await tallies.pool.query('create role tallies_auditor');
  await tallies.pool.query('grant select on tallies.tallies to tallies_auditor, public');
  const allowed = async () =>
    (await tallies.pool.query("select relacl::text as of from pg_class where oid = 'tallies.tallies'::regclass")).rows;
  const before = await allowed();
  await rebuild(tallies.options());
  expect(await allowed()).toEqual(before);
  await tallies.pool.query('drop owned by tallies_auditor');
  await tallies.pool.query('drop role tallies_auditor');
});

test('a table that a newer version has changed meanwhile is not replaced', async () => {
  const { migrations, pool, projection } = tallies;
  const newer = join(migrations, '002-more.sql');
  const apply: Projection['apply'] = async (...args) => {
    writeFileSync(newer, 'alter table tallies add column more text;');
    await migrate(pool, { schema: 'tallies', folder: migrations });
    rmSync(newer);
    return projection.apply(...args);
  };
  await expect(rebuild(tallies.options({ projection: { ...projection, apply } }))).rejects.toThrow('another version');
  await pool.query('alter table tallies.tallies drop column more');
  await pool.query('delete from tallies.migrations where number = 2');
});

describe('verifying', () => {
  test(
    'names each row that is not what the log says, and a rebuild makes them right',
    async () => {
      await spoil();
      await tallies.pool.query("update tallies.tallies set seen_by = 'an instance' where id = 'old-4'");
      const { differ, differences } = await verify(tallies.options());
      expect(differ).toBe(3);
      expect(differences).toEqual([
        { id: 'never', live: expect.objectContaining({ n: 1 }), replayed: null },
        { id: 'old-1', live: expect.objectContaining({ n: 282 }), replayed: expect.objectContaining({ n: 281 }) },
        { id: 'old-2', live: null, replayed: expect.objectContaining({ n: 282 }) },
      ]);
      await rebuild(tallies.options());
      expect(await verify(tallies.options())).toMatchObject({ differ: 0, differences: [] });
    },
    SLOW,
  );

  test(
    'finds nothing in a table that is right while it is written',
    async () => {
      const writers = busyWriters('verified', 6);
      for (let round = 0; round < 3; round += 1) expect(await verify(tallies.options())).toMatchObject({ differ: 0 });
      await writers.leave();
    },
    SLOW,
  );
});
