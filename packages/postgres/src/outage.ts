// PostgreSQL error classes that say "not now": connection, insufficient resources, operator intervention, lock and serialisation conflicts.
const TRANSIENT = /^(08|53|57|40|55P03)/;
const SYSTEM = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether an error of `pg` means that the database is away or busy, so that the same work may succeed later. */
export const isDatabaseOutage = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message?: string };
  if (code && (TRANSIENT.test(code) || SYSTEM.has(code))) return true;
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error/.test(
    message ?? '',
  );
};
