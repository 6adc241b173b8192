import { type EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../log/logger.ts';
import { FatalStartError } from '../config/config.ts';
import pg from 'pg';
import { type IsLeader, startLeaderElection } from './leader-election.ts';
import { migrate, prepareSchema } from './migrate.ts';
import { isTransientDatabaseError } from './errors.ts';
import { createPool, type Pool, transaction } from './pool.ts';
import { testDatabase } from './testing/database.ts';

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

test('sessions have the settings of the pool and of the URL, and a timeout for idle transactions', async () => {
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
    `select current_setting('statement_timeout') as of_the_url, current_setting('enable_seqscan') as own,
       current_setting('synchronous_commit') as async_commit, current_setting('idle_in_transaction_session_timeout') as of_every_session`,
  );
  expect(rows).toEqual([{ of_the_url: '4321ms', own: 'off', async_commit: 'off', of_every_session: '5s' }]);
  await own.end();
});

test('applies migrations once and in order when several start together, and rejects changed or missing ones', async () => {
  writeFileSync(join(folder, '001-things.sql'), 'create table things (id int primary key);');
  const runMigrations = () => migrate(pool, { schema: 'mig', folder });
  await Promise.all([runMigrations(), runMigrations(), runMigrations()]);
  writeFileSync(join(folder, '002-more.sql'), 'insert into things values (1);');
  await runMigrations();
  expect((await pool.query('select * from mig.things')).rows).toEqual([{ id: 1 }]);
  writeFileSync(join(folder, '002-more.sql'), 'insert into things values (2);');
  await expect(runMigrations()).rejects.toThrow(/002-more.sql of schema mig was changed/);
  rmSync(join(folder, '002-more.sql'));
  await expect(runMigrations()).rejects.toThrow(/newer version/);
});

test('refuses a schema that a version before 0.2.0 made, and changes nothing', async () => {
  await pool.query(`create schema earlier;
    create table earlier.migrations (number int primary key, name text not null, hash text not null);
    insert into earlier.migrations values (1, '001-orders.sql', 'x'), (2, '002-last-event.sql', 'y')`);
  const files = mkdtempSync(join(tmpdir(), 'migrations-'));
  writeFileSync(join(files, '001-baseline.sql'), 'create table things (id int);');
  writeFileSync(join(files, '003-more.sql'), 'create table more (id int);');
  const schema = { schema: 'earlier', folder: files, environment: 'sandbox' } as const;
  for (const refused of [() => migrate(pool, schema), () => prepareSchema(pool, schema)]) {
    const refusal = await refused().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(FatalStartError);
    expect((refusal as Error).message).toMatch(
      /^schema earlier .* begins with the migration 001-orders\.sql, .* before 0\.2\.0 .*: start with an empty database, .*"npm run reset"/,
    );
  }
  const { rows } = await pool.query(
    "select relname from pg_class where relnamespace = 'earlier'::regnamespace and relkind = 'r'",
  );
  expect(rows).toEqual([{ relname: 'migrations' }]);
  rmSync(files, { recursive: true });
});

test('a failed migration changes nothing', async () => {
  const broken = mkdtempSync(join(tmpdir(), 'migrations-'));
  writeFileSync(join(broken, '001-half.sql'), 'create table half (id int); select nonsense;');
  await expect(migrate(pool, { schema: 'broken', folder: broken })).rejects.toThrow(/nonsense/);
  expect((await pool.query("select to_regclass('broken.half') as table")).rows).toEqual([{ table: null }]);
  rmSync(broken, { recursive: true });
});

test('a migration may exceed the query timeout, and a second instance waits for it', async () => {
  const large = mkdtempSync(join(tmpdir(), 'migrations-'));
  writeFileSync(join(large, '001-large.sql'), 'create table large (id int); select pg_sleep(1);');
  const impatientPool = new pg.Pool({
    connectionString: database.url,
    query_timeout: 200,
    options: '-c statement_timeout=200',
  });
  await Promise.all([1, 2].map(() => migrate(impatientPool, { schema: 'large', folder: large })));
  expect((await pool.query('select number from large.migrations')).rows).toEqual([{ number: 1 }]);
  await impatientPool.end();
  rmSync(large, { recursive: true });
});

test('a transaction commits all statements or none', async () => {
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

test('a connection lost between two statements fails the transaction, not the process', async () => {
  await pool.query('create table lost (n int)');
  const work = transaction(pool, async (db) => {
    const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
    await db.query('insert into lost values (1)');
    const lost = once(db as unknown as EventEmitter, 'error');
    await pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await lost;
    await db.query('insert into lost values (2)');
  });
  await expect(work).rejects.toThrow();
  expect((await pool.query('select n from lost')).rows).toEqual([]);
});

test('a query timeout fails the transaction without a rollback and closes the connection', async () => {
  const impatientPool = new pg.Pool({ connectionString: database.url, max: 1, query_timeout: 200 });
  const statements: string[] = [];
  const work = transaction(impatientPool, async (db) => {
    const query = db.query.bind(db) as (text: string) => Promise<unknown>;
    db.query = ((text: string) => (statements.push(text), query(text))) as never;
    await db.query('select pg_sleep(20)');
  });
  await expect(work).rejects.toThrow('Query read timeout');
  expect(statements).toEqual(['select pg_sleep(20)']);
  expect(impatientPool.totalCount).toBe(0);
  await impatientPool.end();
});

test('the server ends a statement that takes too long, and its session goes on', async () => {
  const impatientPool = createPool({ url: database.url, name: 'impatient', max: 1, statementTimeoutMs: 100, log });
  const client = await impatientPool.connect();
  const error = await client.query('select pg_sleep(20)').catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: '57014' });
  expect(isTransientDatabaseError(error)).toBe(true);
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  client.release();
  await impatientPool.end();
});

test('a statement ends on the server before the client gives up', async () => {
  const { rows } = await pool.query("select current_setting('statement_timeout') as timeout");
  expect(rows).toEqual([{ timeout: '14s' }]);
});

const atLater = <T>(ms: number, read: () => T): T => {
  const later = performance.now() + ms;
  performance.now = () => later;
  try {
    return read();
  } finally {
    Reflect.deleteProperty(performance, 'now');
  }
};

test('there is one leader at a time, and another takes over when its connection is lost', async () => {
  const leading: string[] = [];
  const roles = new Map<string, IsLeader>();
  const start = (name: string) =>
    startLeaderElection({
      url: database.url,
      role: 'tests.leader',
      log,
      lead: async (signal, isLeader) => {
        leading.push(name);
        roles.set(name, isLeader);
        await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
        leading.splice(leading.indexOf(name), 1);
      },
    });
  const until = async (condition: () => boolean) => {
    while (!condition()) await sleep(10);
  };
  const candidates = { a: start('a'), b: start('b') };
  await until(() => leading.length === 1);
  const [first] = leading as ['a' | 'b'];
  await candidates[first].stop();
  await until(() => leading.length === 1 && leading[0] !== first);
  const second = roles.get(leading[0]!)!;
  expect(second()).toBe(true);
  // As after a pause: PostgreSQL ended the session, and this process has not noticed yet.
  expect(atLater(4_000, second)).toBe(false);
  const terminated = await pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'leader tests.leader' and datname = current_database()",
  );
  expect(terminated.rowCount).toBe(1);
  await until(() => leading.length === 0);
  expect(second()).toBe(false);
  await until(() => leading.length === 1);
  await Promise.all(Object.values(candidates).map((candidate) => candidate.stop()));
  expect(leading).toEqual([]);
});

test('tells a transient error from an invalid statement', async () => {
  const unreachable = createPool({ url: 'postgres://x:y@127.0.0.1:1/none', name: 'test', log });
  const connectionError = await unreachable.query('select 1').catch((error: unknown) => error);
  const statementError = await pool.query('select nonsense').catch((error: unknown) => error);
  expect([isTransientDatabaseError(connectionError), isTransientDatabaseError(statementError)]).toEqual([true, false]);
  await unreachable.end();
});
