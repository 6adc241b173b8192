import type { Pool, Queryable } from './pool.ts';

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. A connection whose state is unknown is not used again. */
export const transaction = async <T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that the server ends between two statements says so here, and nowhere else.
  const lost = (error: Error) => {
    broken = error;
  };
  client.on('error', lost);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((fault: Error) => {
      broken = fault;
    });
    throw error;
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
};
