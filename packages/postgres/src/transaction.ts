import { isUnanswered } from './outage.ts';
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
    return await transactionOn(client, work, lost);
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
};

/** The same on one connection. `stuck` hears of a transaction that could not be rolled back. */
export const transactionOn = async <T>(
  session: Queryable,
  work: (db: Queryable) => Promise<T>,
  stuck: (fault: Error) => void = () => {},
): Promise<T> => {
  try {
    await session.query('begin');
    const result = await work(session);
    await session.query('commit');
    return result;
  } catch (error) {
    // A rollback would wait in line behind it.
    if (isUnanswered(error)) stuck(error);
    else await session.query('rollback').catch(stuck);
    throw error;
  }
};
