import type { Logger } from '@cpg/runtime';
import pg from 'pg';

export type Pool = pg.Pool;
/** A pool or one connection of it: whatever runs a query. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

export interface PoolOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  readonly max?: number;
  /** For what can be made anew from the streams and nobody waits for: a commit does not wait for the disk. */
  readonly disposable?: boolean;
  readonly log: Logger;
}

const CONNECT_WITHIN_MS = 3_000;
const QUERY_WITHIN_MS = 15_000;
// A process that is frozen within a transaction loses it, and with it the rows that others wait for.
const IDLE_IN_TRANSACTION_MS = 5_000;

/** A pool whose every wait has an end: for a connection and for an answer. */
export const createPool = ({ url, name, max = 10, disposable = false, log }: PoolOptions): Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name,
    max,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: QUERY_WITHIN_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    options: [
      `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
      ...(disposable ? ['-c synchronous_commit=off'] : []),
    ].join(' '),
  });
  // An idle connection that the server ended: the pool opens another.
  pool.on('error', (error) => log.warn({ err: error }, 'lost an idle database connection'));
  return pool;
};
