import type { Pool, Queryable } from '@cpg/platform/postgres';

/** Runs `work` in a transaction and rolls it back. `db` is a pool of this one connection, on which a transaction is a
 *  savepoint. `now()` stays the same. */
export const rolledBack = async (pool: Pool, work: (db: Pool) => Promise<void>): Promise<void> => {
  const connection = await pool.connect();
  await connection.query('begin');
  try {
    await work(poolOf(connection));
  } finally {
    await connection.query('rollback');
    connection.release();
  }
};

const NESTED: Readonly<Record<string, string>> = {
  begin: 'savepoint nested',
  commit: 'release savepoint nested',
  rollback: 'rollback to savepoint nested',
};

const poolOf = (connection: Queryable): Pool => {
  const query = (statement: string, values?: unknown[]) => connection.query(NESTED[statement] ?? statement, values);
  return { query, connect: async () => ({ query, on: () => {}, off: () => {}, release: () => {} }) } as unknown as Pool;
};
