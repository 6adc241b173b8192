import { AppError } from '@cpg/core';
import { asUnavailable, type LogPosition, readLog, type ReadLogOptions } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { readCheckpoints } from './known-store.ts';
import { FIRST_PROJECTION, nameOf, type Projection } from './projection.ts';

/** The rows of a projection, and the log that it is built from. */
export interface RowsAndLog {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly projection: Pick<Projection, 'schema' | 'name' | 'tables' | 'prefixes'>;
}

/** Bounds how much of the log one call reads. */
const READ_TIMEOUT_MS = 2_000;

/** Rows that are read later include every event up to this position, but those of parked streams. */
export const checkpointOf = async (
  db: Queryable,
  { schema, name = FIRST_PROJECTION }: RowsAndLog['projection'],
): Promise<LogPosition | null> => {
  const [checkpoint] = await readCheckpoints(db, schema, 'name = $1', [name]);
  return checkpoint?.position ?? null;
};

/** Throws `dependency_unavailable` when the rows lack events of parked streams. */
export const requireNoneParked = async (db: Queryable, projection: RowsAndLog['projection']): Promise<void> => {
  const { schema, name = FIRST_PROJECTION } = projection;
  const parked = await db.query(`select from ${schema}.parked_streams where subscription = $1 limit 1`, [name]);
  if (!parked.rowCount) return;
  throw new AppError('dependency_unavailable', 'the read models are not complete: try again later', {
    cause: new Error(`${nameOf(projection)} lacks the events of parked streams`),
  });
};

/** Reads the log to its end. Throws `dependency_unavailable` when that is too far away. */
export const readToEnd = async (client: EventStoreDBClient, options: Omit<ReadLogOptions, 'signal'>): Promise<void> => {
  try {
    await readLog(client, { ...options, signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
  } catch (error) {
    if (error instanceof AppError) throw error;
    if ((error as Error).name !== 'TimeoutError') throw asUnavailable(error);
    throw new AppError('dependency_unavailable', 'the read models are not complete: try again later', { cause: error });
  }
};
