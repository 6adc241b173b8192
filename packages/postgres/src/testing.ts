import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Creates an empty database on the test run's server. `drop` deletes it. */
export const testDatabase = async (): Promise<{ url: string; drop: () => Promise<void> }> => {
  const adminUrl = process.env.POSTGRES_URL;
  if (!adminUrl)
    throw new Error('POSTGRES_URL is not set: name the test *.int.test.ts to run it as an integration test');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { url: url.toString(), drop: () => run(`drop database if exists ${name} with (force)`) };
};
