import { AppError } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { asUnavailable, UnreadableEventError } from '../store/errors.ts';
import { readLog, type ReadLogOptions, checkPosition } from '../store/log.ts';
import { isBefore, type LogPosition } from '../store/recorded.ts';
import { rawEventsOf } from '../store/stream.ts';
import { readCheckpoints } from '../subscriptions/known-store.ts';
import { FIRST_PROJECTION, nameOf, type Projection } from './projection.ts';

/** The rows of a projection, and the log that it is built from. */
interface RowsAndLog {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly projection: Pick<Projection, 'schema' | 'name' | 'tables' | 'prefixes'>;
}

/** Bounds how much of the log one call reads. */
const READ_TIMEOUT_MS = 2_000;

/** Rows that are read later include every event up to this position, but those of parked streams. */
const checkpointOf = async (
  db: Queryable,
  { schema, name = FIRST_PROJECTION }: RowsAndLog['projection'],
): Promise<LogPosition | null> => {
  const [checkpoint] = await readCheckpoints(db, schema, 'name = $1', [name]);
  return checkpoint?.position ?? null;
};

interface ParkedPlace {
  readonly stream: string;
  /** The first event that the rows lack. */
  readonly revision: number;
}

/** The parked streams of a projection, at most `limit`. Rows that are read later have every event up to an earlier
 *  checkpoint but those. */
const parkedPlaces = async (
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
const eventsOfParked = async (
  client: EventStoreDBClient,
  { stream, revision }: ParkedPlace,
): Promise<AllStreamResolvedEvent[]> => {
  const events: AllStreamResolvedEvent[] = [];
  for await (const resolved of rawEventsOf(client, stream, revision)) events.push(resolved as AllStreamResolvedEvent);
  return events;
};

/** The answer while it is unknown what some events say. */
const incompleteRows = (cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the read models are not complete: try again later', { cause });

/** Reads the log to its end. Throws `dependency_unavailable` when that is too far away, and what `handle` throws. */
const readToEnd = async (client: EventStoreDBClient, options: Omit<ReadLogOptions, 'signal'>): Promise<void> => {
  let ofHandler: unknown = null;
  const handle: ReadLogOptions['handle'] = (events) =>
    options.handle(events).catch((error: unknown) => {
      ofHandler = error;
      throw error;
    });
  try {
    await readLog(client, { ...options, handle, signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
  } catch (error) {
    // A bug in our code is no outage of the event store.
    if (error === ofHandler) throw error;
    if ((error as Error).name !== 'TimeoutError') throw asUnavailable(error);
    throw incompleteRows(error);
  }
};

interface FindInLogOptions<T> extends RowsAndLog {
  /** Looks in the rows of the projection. */
  readonly inRows: () => Promise<T | null>;
  /** Looks in an event that the rows may not include yet. Throws UnreadableEventError if the event may have it. */
  readonly inEvent: (entry: AllStreamResolvedEvent) => Promise<T | null>;
}

/** Bounds how many streams one call reads. */
const MAX_PARKED = 100;

/** Looks in the rows of a projection, then in the events that they do not include: later ones, and those of parked
 *  streams. Null means that no event recorded before the call has it. Throws `dependency_unavailable` when that cannot
 *  be known: the rows are too far behind, or an event that may have it cannot be read. */
export const findInLog = async <T>(options: FindInLogOptions<T>): Promise<T | null> => {
  const { client, db, projection, inRows, inEvent } = options;
  // Before the rows: they include every event up to a checkpoint that was read earlier, but those of parked streams.
  const from = await checkpointOf(db, projection);
  const parked = await parkedPlaces(db, projection, MAX_PARKED + 1);
  const inRow = await inRows();
  if (inRow !== null) return inRow;
  let found: T | null = null;
  let unreadable: UnreadableEventError | null = null;
  const handle = async (entries: readonly AllStreamResolvedEvent[]) => {
    for (const entry of entries)
      try {
        found ??= await inEvent(entry);
      } catch (error) {
        if (!(error instanceof UnreadableEventError)) throw error;
        unreadable ??= error;
      }
  };
  await readToEnd(client, { from, prefixes: projection.prefixes, handle });
  for (const place of parked.slice(0, MAX_PARKED))
    if (found === null) await handle(await eventsOfParked(client, place));
  if (found === null && (unreadable !== null || parked.length > MAX_PARKED))
    throw incompleteRows(new Error(`${nameOf(projection)} lacks events of parked streams`, { cause: unreadable }));
  return found;
};

interface FollowLogOptions extends RowsAndLog {
  /** The keys in an event that the rows will include. */
  readonly keysIn: (entry: AllStreamResolvedEvent) => readonly string[];
  /** How many keys are kept in memory. */
  readonly maxKeys?: number;
}

/** The keys of events that the rows of a projection may not include yet. */
interface BeyondRows {
  /** Whether such an event shows the key. Ask before the rows are read, which may include the event meanwhile. */
  readonly has: (key: string) => boolean;
  /** All other events are in the rows, unless their checkpoint is before this position when they are read. */
  readonly from: LogPosition | null;
}

const MAX_KEYS = 100_000;

/** Follows the log beyond the rows of a projection. A call that resolves has read every event recorded before it. It
 *  begins where the rows end or where the last call ended, whichever is later, so a caller that was quiet for long has
 *  nothing to catch up on. Throws `dependency_unavailable` when the rows are too far behind: call again, what was read
 *  is kept. */
export const followLog = ({
  client,
  db,
  projection,
  keysIn,
  maxKeys = MAX_KEYS,
}: FollowLogOptions): (() => Promise<BeyondRows>) => {
  let keys = new Map<string, LogPosition>();
  let from: LogPosition | null = null;
  let reached: LogPosition | null = null;
  const beginAt = (checkpoint: LogPosition | null): void => {
    keys = new Map();
    reached = checkpoint;
  };
  const forgetUpTo = (checkpoint: LogPosition | null): void => {
    for (const [key, position] of keys) {
      if (isBefore(checkpoint, position)) return;
      keys.delete(key);
    }
  };
  /** The log of a restored event store may have other events up to a position. */
  const isStillThere = async (position: LogPosition | null): Promise<boolean> => {
    if (!position) return true;
    const { status } = await checkPosition(client, position);
    return status === 'present' || status === 'removed';
  };
  const handle = async (entries: readonly AllStreamResolvedEvent[]): Promise<void> => {
    for (const entry of entries) {
      const { commit, prepare } = entry.event!.position;
      for (const key of keysIn(entry)) {
        // In the order of the log.
        keys.delete(key);
        keys.set(key, { commit: String(commit), prepare: String(prepare) });
      }
    }
    if (keys.size > maxKeys) throw incompleteRows(new Error(`${nameOf(projection)} lacks more than ${maxKeys} events`));
  };
  return async () => {
    const checkpoint = await checkpointOf(db, projection);
    // Rows that were lost lack events that were read before.
    if (isBefore(checkpoint, from) || isBefore(reached, checkpoint) || !(await isStillThere(reached)))
      beginAt(checkpoint);
    from = checkpoint;
    forgetUpTo(checkpoint);
    if (keys.size > maxKeys) beginAt(checkpoint);
    const onHandled = (position: LogPosition) => void (reached = position);
    await readToEnd(client, { from: reached, prefixes: projection.prefixes, handle, onHandled });
    // A later call may begin anew.
    const shown = keys;
    return { has: (key) => shown.has(key), from };
  };
};
