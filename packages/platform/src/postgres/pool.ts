import type { Logger } from '../log/logger.ts';
import pg from 'pg';
import { retryDeadlocks } from './deadlocks.ts';
import { OutageAwareClient } from './outage.ts';
import { type SessionSettings, sessionSettings } from './session-settings.ts';

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
