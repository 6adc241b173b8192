import type { Logger } from '@cpg/runtime';
import pg from 'pg';
import { type Settings, withSettings } from './settings.ts';

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
  /** That each of its sessions begins with. */
  readonly settings?: Settings;
  readonly log: Logger;
}

const CONNECT_WITHIN_MS = 3_000;
const QUERY_WITHIN_MS = 15_000;

/** A pool whose every wait has an end: for a connection and for an answer. */
export const createPool = ({ url, name, max = 10, disposable = false, settings, log }: PoolOptions): Pool => {
  const pool = new pg.Pool({
    connectionString: withSettings(url, { ...(disposable && { synchronous_commit: 'off' }), ...settings }),
    application_name: name,
    max,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: QUERY_WITHIN_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  // An idle connection that the server ended: the pool opens another.
  pool.on('error', (error) => log.warn({ err: error }, 'lost an idle database connection'));
  return pool;
};
