// PostgreSQL error classes that say "not now": connection, insufficient resources, operator intervention, lock and serialisation conflicts.
const TRANSIENT = /^(08|53|57|40|55P03)/;
// A schema or a table that the service it belongs to has yet to make.
const NOT_THERE_YET = new Set(['3F000', '42P01']);
const SYSTEM = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether a query got no answer in time. Its connection still waits for one. */
export const isUnanswered = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout';

/** Whether an error of `pg` means that the database is away or busy, so that the same work may succeed later. */
export const isDatabaseOutage = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message?: string };
  if (code && (TRANSIENT.test(code) || NOT_THERE_YET.has(code) || SYSTEM.has(code))) return true;
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error/.test(
    message ?? '',
  );
};
