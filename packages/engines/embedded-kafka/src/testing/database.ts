import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Creates an empty database on the PostgreSQL of the test run. */
export const newDatabase = async (): Promise<{ url: string; drop: () => Promise<void> }> => {
  const admin = process.env.POSTGRES_URL;
  if (!admin) throw new Error('POSTGRES_URL is not set: integration tests run with --selectProjects integration');
  const name = `kafka_${randomUUID().replaceAll('-', '')}`;
  await execute(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(admin, `drop database ${name} with (force)`) };
};

export const execute = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
};
