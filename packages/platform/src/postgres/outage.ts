import type { EventEmitter } from 'node:events';
import type { Dependency } from '../outages/outage.ts';
import pg from 'pg';
import { isDeadlock } from './deadlocks.ts';
import { explainDatabaseError } from './misconfiguration.ts';
import { isConnectionError, isTransientDatabaseError, rememberConnectionError } from './transient-errors.ts';

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
