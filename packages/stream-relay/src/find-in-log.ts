import { AppError } from '@cpg/core';
import { asUnavailable, type LogPosition, readLog } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { readCheckpoints } from './known-store.ts';
import { FIRST_PROJECTION, nameOf, type Projection } from './projection.ts';

export interface FindInLogOptions<T> {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly projection: Pick<Projection, 'schema' | 'name' | 'tables' | 'prefixes'>;
  /** Looks in the rows of the projection. */
  readonly inRows: () => Promise<T | null>;
  /** Looks in an event that the rows may not include yet. */
  readonly inEvent: (entry: AllStreamResolvedEvent) => Promise<T | null>;
}

/** Bounds how far behind the rows may be. */
const READ_TIMEOUT_MS = 2_000;

/** Looks in the rows of a projection, then in the events that they do not include yet. Null means that no event
 *  recorded before the call has it. Throws `dependency_unavailable` when that cannot be known: the rows are too far
 *  behind, or a stream is parked. */
export const findInLog = async <T>(options: FindInLogOptions<T>): Promise<T | null> => {
  const { client, db, projection, inRows, inEvent } = options;
  const { schema, name = FIRST_PROJECTION, prefixes } = projection;
  // Before the rows: they include every event up to a checkpoint that was read earlier.
  const [checkpoint] = await readCheckpoints(db, schema, 'name = $1', [name]);
  const found = await inRows();
  if (found !== null) return found;
  const parked = await db.query(`select from ${schema}.parked_streams where subscription = $1 limit 1`, [name]);
  if (parked.rowCount) throw unknown(`${nameOf(projection)} lacks the events of parked streams`);
  return findAfter(client, checkpoint?.position ?? null, prefixes, inEvent);
};

const findAfter = async <T>(
  client: EventStoreDBClient,
  from: LogPosition | null,
  prefixes: readonly string[],
  inEvent: FindInLogOptions<T>['inEvent'],
): Promise<T | null> => {
  let found: T | null = null;
  const handle = async (entries: readonly AllStreamResolvedEvent[]) => {
    for (const entry of entries) found ??= await inEvent(entry);
  };
  try {
    await readLog(client, { from, prefixes, handle, signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
  } catch (error) {
    throw error instanceof AppError ? error : asUnavailable(error);
  }
  return found;
};

const unknown = (reason: string): AppError =>
  new AppError('dependency_unavailable', 'the read models are not complete: try again later', {
    cause: new Error(reason),
  });
