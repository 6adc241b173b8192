import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../log/logger.ts';
import { databaseDependency, isTransientDatabaseError } from './errors.ts';
import { createPool, type Pool, type Queryable, transaction } from './pool.ts';
import { testDatabase } from './testing/database.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'test', settings: { deadlock_timeout: '50ms' }, log });
  await pool.query('create table counters (id int primary key, n int not null default 0)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => pool.query('truncate counters; insert into counters values (1), (2)'));

const increment = (db: Queryable, id: number) => db.query('update counters set n = n + 1 where id = $1', [id]);
const counters = async () =>
  (await pool.query<{ n: number }>('select n from counters order by id')).rows.map(({ n }) => n);
/** Resolves for both callers once both have called it. */
const meeting = () => {
  let waiting = 2;
  let meet = () => {};
  const met = new Promise<void>((done) => (meet = done));
  return () => {
    waiting -= 1;
    if (waiting <= 0) meet();
    return met;
  };
};

test('two transactions that wait for each other both succeed, each of them once', async () => {
  let runs = 0;
  const meet = meeting();
  const both = (first: number, second: number) =>
    transaction(pool, async (db) => {
      runs += 1;
      await increment(db, first);
      await meet();
      await increment(db, second);
    });
  await Promise.all([both(1, 2), both(2, 1)]);
  expect(await counters()).toEqual([2, 2]);
  // The transaction that runs again may take its row before the other one wakes up, and meet it once more.
  expect(runs).toBeGreaterThanOrEqual(3);
});

test('a statement outside of a transaction is run again after a deadlock', async () => {
  const other = await pool.connect();
  const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { pid } = rows[0]!;
  // With its row locked, the statement waits for a lock of the other transaction. PostgreSQL looks for a deadlock once
  // in a wait, so the other transaction has to wait before it.
  await pool.query(`create function wait_for_lock() returns trigger language plpgsql as $$
    begin
      while exists (select from pg_locks where locktype = 'advisory' and pid = ${pid})
        and not pg_backend_pid() = any (pg_blocking_pids(${pid}))
      loop
        perform pg_sleep(0.005);
      end loop;
      perform pg_advisory_xact_lock(7);
      return new;
    end $$`);
  await pool.query('create trigger waits after update on counters for each row execute function wait_for_lock()');
  await other.query('begin');
  await other.query("set local deadlock_timeout = '20s'");
  await other.query('select pg_advisory_xact_lock(7)');
  const statement = increment(pool, 1);
  const isLocked = async () =>
    (await pool.query('select from counters where id = 1 for update skip locked')).rowCount === 0;
  while (!(await isLocked())) await sleep(5);
  await other.query('select from counters where id = 1 for update');
  await other.query('commit');
  other.release();
  await statement;
  expect(await counters()).toEqual([1, 0]);
  await pool.query('drop trigger waits on counters');
});

test('a deadlock that does not end is thrown after five attempts, and is no outage', async () => {
  let attempts = 0;
  const deadlock = await transaction(pool, async (db) => {
    attempts += 1;
    await db.query("do $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$");
  }).catch((error: unknown) => error);
  expect(attempts).toBe(5);
  expect(databaseDependency(pool).owns?.(deadlock)).toBe(false);
  // Consumers handle the same messages again, and park none.
  expect(isTransientDatabaseError(deadlock)).toBe(true);
});

test('other errors are thrown at once', async () => {
  let attempts = 0;
  const work = transaction(pool, async (db) => {
    attempts += 1;
    await db.query('insert into counters values (1)');
  });
  await expect(work).rejects.toMatchObject({ code: '23505' });
  expect(attempts).toBe(1);
});
