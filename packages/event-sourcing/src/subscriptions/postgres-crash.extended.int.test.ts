import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@cpg/embedded-postgres';
import { createLogger } from '@cpg/platform';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { freePort } from '@cpg/ports';
import { connectEventStore } from '../store/connect.ts';
import { startProjection } from '../followers/projection.ts';
import { startTallies } from '../testing/jest-tallies.ts';

const log = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
let server: Awaited<ReturnType<typeof startPostgres>>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crash-'));
  server = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort(), password: 'secret' });
  await server.createDatabase('crashes');
  // Otherwise commits reach the disk within 0.6 s, and a crash loses few of them.
  await withSession(async (pool) => {
    await pool.query("alter system set wal_writer_delay = '10s'");
    await pool.query('select pg_reload_conf()');
  });
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** A pool with one session. Its queries fail while PostgreSQL recovers. */
const session = () => createPool({ url: server.url('crashes'), name: 'crash', max: 1, asyncCommit: true, log });

const withSession = async <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
  const pool = session();
  return work(pool).finally(() => pool.end());
};

const untilRecovered = () =>
  withSession(async (pool) => {
    while (!(await pool.query('select 1').catch(() => null))) await sleep(20);
  });

/** Kills one session's process. PostgreSQL then ends all sessions, gives up its shared memory with the log records that
 *  are not on disk, and recovers. */
const crash = async () => {
  await withSession(async (pool) => {
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => pool.once('error', resolve));
    process.kill(rows[0]!.pid, 'SIGKILL');
    await ended;
  });
  await untilRecovered();
};

test('a checkpoint that survives a PostgreSQL crash never survives without the rows before it', async () => {
  await withSession(async (pool) => {
    await pool.query('create table rows (n int primary key); create table mark as select 0 as n');
    await pool.query('checkpoint');
  });
  let n = 0;
  let lost = 0;
  for (let round = 0; round < 5; round += 1) {
    const [rows, mark] = [session(), session()];
    let acknowledged = 0;
    const writing = (async () => {
      for (;;) {
        n += 1;
        await rows.query('insert into rows values ($1)', [n]);
        await mark.query('update mark set n = $1', [n]);
        acknowledged += 1;
      }
    })().catch(() => {});
    while (acknowledged < 200) await sleep(1);
    await crash();
    await writing;
    await Promise.all([rows.end(), mark.end()]);
    const survived = await withSession(
      async (pool) =>
        (
          await pool.query<{ mark: number; missing: number }>(`
          select mark.n as mark, (select count(*)::int from generate_series(1, mark.n) as each where each not in (select n from rows)) as missing
          from mark`)
        ).rows[0]!,
    );
    expect(survived.missing).toBe(0);
    lost += n - survived.mark;
    // The next round writes the lost rows again, as the catch-up subscription does.
    n = survived.mark;
    await withSession((pool) => pool.query('delete from rows where n > $1', [n]));
  }
  expect(lost).toBeGreaterThan(5);
});

test('after PostgreSQL crashes, a projection makes every lost row again', async () => {
  const tallies = await startTallies(Promise.resolve({ url: server.url('crashes'), drop: async () => {} }));
  const client = connectEventStore(tallies.eventStoreUrl);
  const { pool, databaseUrl, projection } = tallies;
  const running = startProjection({ client, pool, databaseUrl, projection, log });
  const lastOf = new Map<string, number>();
  let isWriting = true;
  let written = 0;
  const untilMoreAreWritten = async (count: number) => {
    for (const end = written + count; written < end;) await sleep(5);
  };
  const writers = ['a', 'b', 'c', 'd'].map(async (writer) => {
    for (let n = 1; isWriting; n += 1) {
      const id = `${writer}-${n % 50}`;
      // The event is recorded although its row may not be written.
      await tallies.tally(id, n).then(
        () => (written += 1),
        () => sleep(50),
      );
      lastOf.set(id, n);
    }
  });
  for (let crashes = 0; crashes < 3; crashes += 1) {
    await untilMoreAreWritten(300);
    await crash();
  }
  await untilMoreAreWritten(50);
  isWriting = false;
  await Promise.all(writers);
  const expected = [...lastOf].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = async () => (await tallies.rows()).map(({ id, n }) => [id, n]);
  const sameAsExpected = async () => JSON.stringify(await shown()) === JSON.stringify(expected);
  for (let tries = 0; tries < 1_000 && !(await sameAsExpected().catch(() => false)); tries += 1) await sleep(100);
  expect((await shown()).sort(([a], [b]) => (a! < b! ? -1 : 1))).toEqual(expected);
  await running.stop();
  await client.dispose();
  await tallies.stop();
});
