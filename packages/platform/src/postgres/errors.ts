import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { ConfigError } from '../config/config.ts';
import type { Dependency } from '../outages/outages.ts';
import { retry } from '../outages/retry.ts';

// SQLSTATE classes: 08 connection, 53 resources, 57 operator intervention, 40 rollback; 55P03 is lock_not_available.
const TRANSIENT_SQLSTATE = /^(08|53|57|40|55P03)/;
// invalid_schema_name and undefined_table: the service that owns the table has not created it yet.
const NOT_MIGRATED_YET = new Set(['3F000', '42P01']);
// Errors that `pg` throws without a code.
const PG_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error/;

// A code like ECONNRESET does not say which connection was reset: that of a client that breaks off its upload has it
// too.
const connectionErrors = new WeakSet<object>();

/** Remembers an error of a connection to the database. */
const rememberConnectionError = (error: object): void => void connectionErrors.add(error);

/** Whether a connection to the database failed with this error. */
const isConnectionError = (error: unknown): boolean => connectionErrors.has(error as object);

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

// deadlock_detected, and serialization_failure, which is its like at stricter isolation levels.
const ENDED_FOR_ANOTHER = new Set(['40P01', '40001']);
const MAX_ATTEMPTS = 5;

/** Whether PostgreSQL rolled the transaction back because it and others waited for each other. Nothing is unavailable:
 *  the same transaction succeeds once the others are done. */
const isDeadlock = (error: unknown): boolean =>
  ENDED_FOR_ANOTHER.has((error as { readonly code?: string } | null)?.code ?? '');

/** Runs a whole transaction, or a statement outside of one, again after a deadlock: at most five times, after random
 *  waits of 10 to 200 ms. PostgreSQL counts and logs deadlocks itself. */
export const retryDeadlocks = <T>(work: () => Promise<T>): Promise<T> =>
  retry(work, {
    firstMs: 20,
    maxMs: 200,
    onError: (error, attempt) => {
      if (attempt >= MAX_ATTEMPTS || !isDeadlock(error)) throw error;
    },
  });

/** The name of PostgreSQL in outages. */
export const POSTGRES = 'postgres';

/** Remembers the errors of its connection. */
export class OutageAwareClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as { readonly connection: EventEmitter };
    connection.prependListener('error', rememberConnectionError);
  }
}

/** Whether an error means that PostgreSQL is unavailable or busy. A deadlock does not. */
const isDatabaseOutage = (error: unknown): boolean => {
  if (isConnectionError(error)) return true;
  if (!(error instanceof Error)) return false;
  const hasForeignCode = 'code' in error && !(error instanceof pg.DatabaseError);
  return !hasForeignCode && !isDeadlock(error) && isTransientDatabaseError(error);
};

/** How `Outages` recognizes an outage of PostgreSQL, and its end. */
export const databaseDependency = (pool: Pick<pg.Pool, 'query'>): Dependency => ({
  owns: (error) => isDatabaseOutage(error) || explainDatabaseError(error) !== null,
  check: async () => {
    try {
      await pool.query('select 1');
    } catch (error) {
      throw explainDatabaseError(error) ?? error;
    }
  },
});

// SQLSTATE: invalid_password, invalid_authorization_specification, invalid_catalog_name.
const WRONG_PASSWORD = '28P01';
const WRONG_USER = '28000';
const NO_DATABASE = '3D000';
const NO_TLS = /server does not support SSL connections/;
// PgBouncer, with the SQLSTATE of a broken connection.
const REFUSED_OPTIONS = /unsupported startup parameter/;
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The setting that makes PostgreSQL refuse a connection, and how to correct it; null for any other error. Names no
 *  user and no host: the readiness of the gateway is public. */
const explainDatabaseError = (error: unknown): ConfigError | null => {
  if (!(error instanceof Error)) return null;
  const sentence = sentenceFor(error);
  return sentence === null ? null : new ConfigError(sentence, { cause: error });
};

const sentenceFor = (error: Error & { code?: unknown }): string | null => {
  const { code, message } = error;
  if (code === WRONG_PASSWORD)
    return 'PostgreSQL refuses the password of the user in DATABASE_URL: correct it there (percent-encode special characters), or set it in PostgreSQL';
  if (code === WRONG_USER)
    return 'PostgreSQL refuses the user in DATABASE_URL: correct it, or create the role and allow it in pg_hba.conf';
  if (code === NO_DATABASE)
    return 'the database in DATABASE_URL does not exist in PostgreSQL: create it, or correct DATABASE_URL';
  if (NO_TLS.test(message))
    return 'PostgreSQL offers no TLS: turn on ssl in PostgreSQL, or remove sslmode from DATABASE_URL';
  if (REFUSED_OPTIONS.test(message))
    return 'the pooler that DATABASE_URL leads to refuses options: remove options from DATABASE_URL';
  if (UNTRUSTED.has(String(code)))
    return 'the certificate of PostgreSQL is not signed by a trusted authority: add sslrootcert=<PEM file of the authority that signed it> to DATABASE_URL';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the certificate of PostgreSQL is for another name: use a name of the certificate in DATABASE_URL';
  return null;
};
