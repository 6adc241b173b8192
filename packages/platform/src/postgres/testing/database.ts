import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createLogger } from '../../log/logger.ts';
import { migrate, type Migrations } from '../migrate.ts';
import { createPool, type Pool, type PoolOptions } from '../pool.ts';

/** Creates an empty database on the test run's server. `drop` deletes it. `deadlocks` counts the deadlocks that it had:
 *  close every connection to it before. */
export const testDatabase = async (): Promise<{
  url: string;
  deadlocks: () => Promise<number>;
  drop: () => Promise<void>;
}> => {
  const adminUrl = process.env.POSTGRES_URL;
  if (!adminUrl)
    throw new Error('POSTGRES_URL is not set: name the test *.int.test.ts to run it as an integration test');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const run = async (sql: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql).finally(() => client.end());
    return rows;
  };
  const isInUse = async () => (await run(`select from pg_stat_activity where datname = '${name}'`)).length > 0;
  await run(`create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.toString(),
    deadlocks: async () => {
      // A session reports its deadlocks when it ends, at the latest.
      while (await isInUse()) await sleep(10);
      const [counted] = await run(`select deadlocks::int from pg_stat_database where datname = '${name}'`);
      return counted!.deadlocks as number;
    },
    drop: async () => void (await run(`drop database if exists ${name} with (force)`)),
  };
};

/** Creates a database with these migrations, and a pool. `stop` ends the pool and drops the database. */
export const migratedDatabase = async (
  migrations: Migrations,
  options: Partial<PoolOptions> = {},
): Promise<{ url: string; pool: Pool; stop: () => Promise<void> }> => {
  const database = await testDatabase();
  const log = createLogger({ name: 'test', level: 'silent' });
  const pool = createPool({ url: database.url, name: 'test', log, ...options });
  await migrate(pool, migrations);
  return {
    url: database.url,
    pool,
    stop: async () => {
      await pool.end();
      await database.drop();
    },
  };
};
