import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database of its own on the server of the test run, empty, gone after `drop`. */
export const testDatabase = async (): Promise<{ url: string; drop: () => Promise<void> }> => {
  const admin = process.env.POSTGRES_URL;
  if (!admin) throw new Error('POSTGRES_URL is not set: run as an integration test');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: admin });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.toString(), drop: () => run(`drop database if exists ${name} with (force)`) };
};
