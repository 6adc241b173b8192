import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientConfig, QueryConfig } from 'pg';
import type { Pool, Queryable } from './pool.ts';
import { transaction } from './transaction.ts';

const FILE = /^(\d{3})-[a-z0-9-]+\.sql$/;

export interface Migrations {
  readonly schema: string;
  /** Holds the numbered files. */
  readonly folder: string;
}

/** Brings a schema up to date with the numbered files (`001-orders.sql`) of a folder, each one once, in order, all in one
 *  transaction; instances that start together wait for each other. Throws when a file that was applied has changed since, or
 *  when the database is ahead of this program. */
export const migrate = async (pool: Pool, migrations: Migrations): Promise<void> =>
  transaction(pool, (db) => migrateWithin(db, migrations));

/** The same in a transaction that runs already. Afterwards `search_path` is the schema until that transaction ends. */
export const migrateWithin = async (db: Queryable, { schema, folder }: Migrations): Promise<void> => {
  const files = await migrationsIn(folder);
  await db.query(unhurried('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrate ${schema}`]));
  await db.query(`create schema if not exists ${schema}`);
  await db.query(
    `create table if not exists ${schema}.migrations (number int primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`,
  );
  const applied = await db.query<{ number: number; name: string; hash: string }>(
    `select number, name, hash from ${schema}.migrations`,
  );
  for (const { number, name, hash } of applied.rows) {
    const file = files.find((candidate) => candidate.number === number);
    if (!file)
      throw new Error(
        `the database has migration ${name} of schema ${schema}, which this program does not know: it was written by a newer version`,
      );
    if (file.hash !== hash) throw new Error(`migration ${name} of schema ${schema} was changed after it was applied`);
  }
  const done = new Set(applied.rows.map((row) => row.number));
  for (const file of files.filter((candidate) => !done.has(candidate.number))) {
    await db.query(`set local search_path to ${schema}`);
    await db.query(unhurried(file.sql));
    await db.query(`insert into ${schema}.migrations (number, name, hash) values ($1, $2, $3)`, [
      file.number,
      file.name,
      file.hash,
    ]);
  }
};

const ALL_DAY_MS = 24 * 60 * 60 * 1000;

/** A statement that the time limit of its pool does not end: one over a large table would be given up, rolled back and begun again for ever. */
const unhurried = (text: string, values?: unknown[]): QueryConfig & ClientConfig => ({
  text,
  ...(values && { values }),
  query_timeout: ALL_DAY_MS,
});

const migrationsIn = async (folder: string) => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const number = FILE.exec(name)?.[1];
      if (!number) throw new Error(`${name} is not named like 001-orders.sql`);
      const sql = await readFile(join(folder, name), 'utf8');
      return { number: Number(number), name, sql, hash: createHash('sha256').update(sql).digest('hex') };
    }),
  );
};
