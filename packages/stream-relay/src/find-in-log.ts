import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { checkpointOf, readToEnd, requireNoneParked, type RowsAndLog } from './rows-and-log.ts';

export interface FindInLogOptions<T> extends RowsAndLog {
  /** Looks in the rows of the projection. */
  readonly inRows: () => Promise<T | null>;
  /** Looks in an event that the rows may not include yet. */
  readonly inEvent: (entry: AllStreamResolvedEvent) => Promise<T | null>;
}

/** Looks in the rows of a projection, then in the events that they do not include yet. Null means that no event
 *  recorded before the call has it. Throws `dependency_unavailable` when that cannot be known: the rows are too far
 *  behind, or a stream is parked. */
export const findInLog = async <T>(options: FindInLogOptions<T>): Promise<T | null> => {
  const { client, db, projection, inRows, inEvent } = options;
  // Before the rows: they include every event up to a checkpoint that was read earlier.
  const from = await checkpointOf(db, projection);
  const inRow = await inRows();
  if (inRow !== null) return inRow;
  await requireNoneParked(db, projection);
  let found: T | null = null;
  const handle = async (entries: readonly AllStreamResolvedEvent[]) => {
    for (const entry of entries) found ??= await inEvent(entry);
  };
  await readToEnd(client, { from, prefixes: projection.prefixes, handle });
  return found;
};
