// SQLSTATE classes: 08 connection, 53 resources, 57 operator intervention, 40 rollback; 55P03 is lock_not_available.
const TRANSIENT_SQLSTATE = /^(08|53|57|40|55P03)/;
// invalid_schema_name and undefined_table: the service that owns the table has not created it yet.
const NOT_MIGRATED_YET = new Set(['3F000', '42P01']);
const NETWORK_ERRORS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
// Errors that `pg` throws without a code.
const PG_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error/;

/** Whether a query timed out. Its connection still waits for the result and cannot be used again. */
export const isQueryTimeout = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';

/** Whether an error of `pg` is transient: the database is unavailable or busy, and a retry may succeed. */
export const isTransientDatabaseError = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message?: string };
  if (code && (TRANSIENT_SQLSTATE.test(code) || NOT_MIGRATED_YET.has(code) || NETWORK_ERRORS.has(code))) return true;
  return PG_MESSAGES.test(message ?? '');
};
