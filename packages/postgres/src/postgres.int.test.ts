import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/runtime';
import pg from 'pg';
import { startLeaderElection } from './leader-election.ts';
import { migrate } from './migrate.ts';
import { isTransientDatabaseError } from './transient-errors.ts';
import { createPool, type Pool } from './pool.ts';
import { testDatabase } from './testing.ts';
import { transaction } from './transaction.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let folder: string;

beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'test', log });
  folder = mkdtempSync(join(tmpdir(), 'migrations-'));
});

afterAll(async () => {
  await pool.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

test("sessions have the pool's settings and those of the address, and end a transaction that is left alone", async () => {
  const url = new URL(database.url);
  url.searchParams.set('options', '-c statement_timeout=4321');
  const own = createPool({
    url: url.toString(),
    name: 'test',
    asyncCommit: true,
    settings: { enable_seqscan: 'off' },
    log,
  });
  const { rows } = await own.query(
    `select current_setting('statement_timeout') as of_the_address, current_setting('enable_seqscan') as own,
       current_setting('synchronous_commit') as disposable, current_setting('idle_in_transaction_session_timeout') as always`,
  );
  expect(rows).toEqual([{ of_the_address: '4321ms', own: 'off', disposable: 'off', always: '5s' }]);
  await own.end();
});

test('migrations run once, in order, however many start at the same time, and only grow', async () => {
  writeFileSync(join(folder, '001-things.sql'), 'create table things (id int primary key);');
  const up = () => migrate(pool, { schema: 'mig', folder });
  await Promise.all([up(), up(), up()]);
  writeFileSync(join(folder, '002-more.sql'), 'insert into things values (1);');
  await up();
  expect((await pool.query('select * from mig.things')).rows).toEqual([{ id: 1 }]);
  writeFileSync(join(folder, '002-more.sql'), 'insert into things values (2);');
  await expect(up()).rejects.toThrow(/002-more.sql of schema mig was changed/);
  rmSync(join(folder, '002-more.sql'));
  await expect(up()).rejects.toThrow(/newer version/);
});

test('a migration that fails leaves nothing', async () => {
  const broken = mkdtempSync(join(tmpdir(), 'migrations-'));
  writeFileSync(join(broken, '001-half.sql'), 'create table half (id int); select nonsense;');
  await expect(migrate(pool, { schema: 'broken', folder: broken })).rejects.toThrow(/nonsense/);
  expect((await pool.query("select to_regclass('broken.half') as table")).rows).toEqual([{ table: null }]);
  rmSync(broken, { recursive: true });
});

test('a migration takes as long as it takes, and who starts meanwhile waits for it', async () => {
  const large = mkdtempSync(join(tmpdir(), 'migrations-'));
  writeFileSync(join(large, '001-large.sql'), 'create table large (id int); select pg_sleep(1);');
  const hasty = new pg.Pool({ connectionString: database.url, query_timeout: 200 });
  await Promise.all([1, 2].map(() => migrate(hasty, { schema: 'large', folder: large })));
  expect((await pool.query('select number from large.migrations')).rows).toEqual([{ number: 1 }]);
  await hasty.end();
  rmSync(large, { recursive: true });
});

test('a transaction commits all of its work or none', async () => {
  await pool.query('create table counts (n int)');
  await expect(
    transaction(pool, async (db) => {
      await db.query('insert into counts values (1)');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await transaction(pool, (db) => db.query('insert into counts values (2)'));
  expect((await pool.query('select n from counts')).rows).toEqual([{ n: 2 }]);
});

test('a connection that is cut between two statements fails its transaction, not the process', async () => {
  await pool.query('create table cut (n int)');
  const work = transaction(pool, async (db) => {
    const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
    await db.query('insert into cut values (1)');
    await pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await sleep(100);
    await db.query('insert into cut values (2)');
  });
  await expect(work).rejects.toThrow();
  expect((await pool.query('select n from cut')).rows).toEqual([]);
});

test('nothing more waits for a statement that has got no answer: the transaction fails, and its connection goes', async () => {
  const hasty = new pg.Pool({ connectionString: database.url, max: 1, query_timeout: 200 });
  const said: string[] = [];
  const work = transaction(hasty, async (db) => {
    const query = db.query.bind(db) as (text: string) => Promise<unknown>;
    db.query = ((text: string) => (said.push(text), query(text))) as never;
    await db.query('select pg_sleep(20)');
  });
  await expect(work).rejects.toThrow('Query read timeout');
  expect(said).toEqual(['select pg_sleep(20)']);
  expect(hasty.totalCount).toBe(0);
  await hasty.end();
});

test('one leads at a time, and another takes over when its connection is cut', async () => {
  const leading: string[] = [];
  const start = (name: string) =>
    startLeaderElection({
      url: database.url,
      role: 'tests.leader',
      log,
      lead: async (signal) => {
        leading.push(name);
        await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
        leading.splice(leading.indexOf(name), 1);
      },
    });
  const until = async (look: () => boolean) => {
    while (!look()) await sleep(10);
  };
  const members = { a: start('a'), b: start('b') };
  await until(() => leading.length === 1);
  const [first] = leading as ['a' | 'b'];
  await members[first].stop();
  await until(() => leading.length === 1 && leading[0] !== first);
  const cut = await pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'leader tests.leader'",
  );
  expect(cut.rowCount).toBe(1);
  await until(() => leading.length === 0);
  await until(() => leading.length === 1);
  await Promise.all(Object.values(members).map((member) => member.stop()));
  expect(leading).toEqual([]);
});

test('an outage is told from a fault of the statement', async () => {
  const nowhere = createPool({ url: 'postgres://x:y@127.0.0.1:1/none', name: 'test', log });
  const away = await nowhere.query('select 1').catch((error: unknown) => error);
  const wrong = await pool.query('select nonsense').catch((error: unknown) => error);
  expect([isTransientDatabaseError(away), isTransientDatabaseError(wrong)]).toEqual([true, false]);
  await nowhere.end();
});
