import pg from 'pg';
import { ConfigError } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';
import { isQueryTimeout, OutageAwareClient, retryDeadlocks } from './errors.ts';

export type Pool = pg.Pool;
/** Runs a query: a pool or one of its connections. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

export interface PoolOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  readonly max?: number;
  /** Commits without waiting for the disk. Use it only for data that can be rebuilt from the event streams. */
  readonly asyncCommit?: boolean;
  /** The server ends a statement after this time. `statement_timeout` in the options of the URL overrides it. */
  readonly statementTimeoutMs?: number;
  /** PostgreSQL settings of every session. */
  readonly settings?: SessionSettings;
  readonly log: Logger;
}

const CONNECT_TIMEOUT_MS = 3_000;
const QUERY_TIMEOUT_MS = 15_000;
// Before the client gives up: it closes the connection then, and a server that is not told goes on with the statement.
const STATEMENT_TIMEOUT_MS = 14_000;

// In local time, a zone whose early offset has seconds would move times of that age.
pg.defaults.parseInputDatesAsUTC = true;

/** A connection pool with timeouts for connecting and for each query, on the server and, if the server is silent, on
 *  the client. `query` runs a statement again after a deadlock: outside of a transaction, it has changed nothing. */
export const createPool = (options: PoolOptions): Pool => {
  const { url, name, max = 10, asyncCommit = false, settings, log } = options;
  const statement = sessionSettings(
    url,
    { ...(asyncCommit && { synchronous_commit: 'off' }), ...settings },
    { statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS },
  );
  const pool = new pg.Pool({
    connectionString: url,
    // Its type says void, but the pool awaits it.
    onConnect: (connection) => connection.query(statement) as unknown as void,
    application_name: name,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    Client: OutageAwareClient,
  });
  // The server closed an idle connection. The pool opens a new one when it needs it.
  pool.on('error', (error) => log.warn({ err: error }, 'lost an idle database connection'));
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
  pool.query = ((...args: unknown[]) => retryDeadlocks(() => query(...args))) as Pool['query'];
  return pool;
};

/** PostgreSQL settings by name. */
type SessionSettings = Readonly<Record<string, string | number>>;

const DEFAULTS: SessionSettings = {
  // Ends the transaction of a frozen process, which releases the locks that others wait for.
  idle_in_transaction_session_timeout: 5_000,
  // Times as text end in Z, and a day has 24 hours.
  timezone: 'UTC',
};

/** The statement that a new session begins with: `settings` and those of every session, and the `defaults` that the
 *  options of the database URL do not set. A pooler refuses or drops settings in the startup message. */
export const sessionSettings = (
  databaseUrl: string,
  settings: SessionSettings = {},
  defaults: SessionSettings = {},
): string => {
  // The error of `new URL` has the text, and so the password.
  if (!URL.canParse(databaseUrl)) throw new ConfigError('DATABASE_URL: must be a postgres:// URL');
  const given = new URL(databaseUrl).searchParams.get('options') ?? '';
  // Options can be written as `-c statement_timeout=1s` or `--statement-timeout=1s`.
  const isGiven = (name: string) => given.replaceAll('-', '_').includes(`${name}=`);
  const unset = Object.entries(defaults).filter(([name]) => !isGiven(name));
  return [...unset, ...Object.entries({ ...DEFAULTS, ...settings })]
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
};

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
