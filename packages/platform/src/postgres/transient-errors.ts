// SQLSTATE classes: 08 connection, 53 resources, 57 operator intervention, 40 rollback; 55P03 is lock_not_available.
const TRANSIENT_SQLSTATE = /^(08|53|57|40|55P03)/;
// invalid_schema_name and undefined_table: the service that owns the table has not created it yet.
const NOT_MIGRATED_YET = new Set(['3F000', '42P01']);
// Errors that `pg` throws without a code.
const PG_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error/;

// A code like ECONNRESET does not say which connection was reset: that of a client that breaks off its upload has it too.
const connectionErrors = new WeakSet<object>();

/** Remembers an error of a connection to the database. */
export const rememberConnectionError = (error: object): void => void connectionErrors.add(error);

/** Whether a connection to the database failed with this error. */
export const isConnectionError = (error: unknown): boolean => connectionErrors.has(error as object);

/** Whether a query timed out. Its connection still waits for the result and cannot be used again. */
export const isQueryTimeout = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';

/** Whether an error of the database is transient: it is unavailable or busy, and a retry may succeed. */
export const isTransientDatabaseError = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message?: string };
  if (isConnectionError(error)) return true;
  if (code && (TRANSIENT_SQLSTATE.test(code) || NOT_MIGRATED_YET.has(code))) return true;
  return PG_MESSAGES.test(message ?? '');
};
