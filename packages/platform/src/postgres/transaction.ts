import { retryDeadlocks } from './deadlocks.ts';
import type { Pool, Queryable } from './pool.ts';
import { isQueryTimeout } from './transient-errors.ts';

/** Runs `work` in a transaction: commits when it resolves, rolls back when it throws. Runs `work` again after a
 *  deadlock, so it must change nothing but the database. Closes the connection if its state is unknown. */
export const transaction = <T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> =>
  retryDeadlocks(() => transactionOnce(pool, work));

const transactionOnce = async <T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  let connectionError: Error | undefined;
  // `pg` reports a connection lost between two statements only through this event.
  const onConnectionError = (error: Error) => {
    connectionError = error;
  };
  client.on('error', onConnectionError);
  try {
    return await transactionOnConnection(client, work, onConnectionError);
  } finally {
    client.off('error', onConnectionError);
    client.release(connectionError);
  }
};

/** Runs `work` in a transaction on the given connection. Calls `onRollbackFailed` when the transaction could not be
 *  rolled back. */
export const transactionOnConnection = async <T>(
  connection: Queryable,
  work: (db: Queryable) => Promise<T>,
  onRollbackFailed: (error: Error) => void = () => {},
): Promise<T> => {
  try {
    await connection.query('begin');
    const result = await work(connection);
    await connection.query('commit');
    return result;
  } catch (error) {
    // After a timeout the rollback would queue behind the statement that is still running.
    if (isQueryTimeout(error)) onRollbackFailed(error);
    else await connection.query('rollback').catch(onRollbackFailed);
    throw error;
  }
};
