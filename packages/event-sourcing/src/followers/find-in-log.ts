import { UnreadableEventError } from '../store/unreadable.ts';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import {
  checkpointOf,
  eventsOfParked,
  incompleteRows,
  parkedPlaces,
  readToEnd,
  type RowsAndLog,
} from './rows-and-log.ts';

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
    throw incompleteRows(projection, unreadable);
  return found;
};
