import { AppError } from '@cpg/contracts';
import { asUnavailable } from '../store/unavailable.ts';
import type { LogPosition } from '../store/recorded.ts';
import { rawEventsOf } from '../store/stream.ts';
import { readLog, type ReadLogOptions } from '../store/log.ts';
import type { Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { readCheckpoints } from '../subscriptions/known-store.ts';
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

export interface ParkedPlace {
  readonly stream: string;
  /** The first event that the rows lack. */
  readonly revision: number;
}

/** The parked streams of a projection, at most `limit`. Rows that are read later have every event up to an earlier
 *  checkpoint but those. */
export const parkedPlaces = async (
  db: Queryable,
  { schema, name = FIRST_PROJECTION }: RowsAndLog['projection'],
  limit: number | null = null,
): Promise<ParkedPlace[]> => {
  const { rows } = await db.query<{ stream: string; revision: string }>(
    `select stream, revision from ${schema}.parked_streams where subscription = $1 order by tried_at limit $2`,
    [name, limit],
  );
  return rows.map(({ stream, revision }) => ({ stream, revision: Number(revision) }));
};

/** The events of a parked stream that the rows lack. */
export const eventsOfParked = async (
  client: EventStoreDBClient,
  { stream, revision }: ParkedPlace,
): Promise<AllStreamResolvedEvent[]> => {
  const events: AllStreamResolvedEvent[] = [];
  for await (const resolved of rawEventsOf(client, stream, revision)) events.push(resolved as AllStreamResolvedEvent);
  return events;
};

/** The answer while it is unknown what some events say. */
export const incompleteRows = (projection: RowsAndLog['projection'], cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the read models are not complete: try again later', {
    cause: new Error(`${nameOf(projection)} lacks events of parked streams`, { cause }),
  });

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
