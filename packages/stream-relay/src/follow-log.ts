import { type LogPosition, type ReadLogOptions, standingOf } from '@cpg/event-store';
import { checkpointOf, readToEnd, requireNoneParked, type RowsAndLog } from './rows-and-log.ts';

export interface FollowLogOptions extends RowsAndLog, Pick<ReadLogOptions, 'handle'> {
  readonly readRows: () => Promise<void>;
}

/** Reads the rows of a projection once, then the events that they do not include yet; each further
 *  call reads the events since the last one. A call that resolves has read every event recorded
 *  before it. Throws `dependency_unavailable` when that is not possible now: then call again. */
export const followLog = ({ client, db, projection, readRows, handle }: FollowLogOptions): (() => Promise<void>) => {
  let reached: LogPosition | null | undefined;
  const afterRows = async (): Promise<LogPosition | null> => {
    // Before the rows: they include every event up to a checkpoint that was read earlier.
    const position = await checkpointOf(db, projection);
    await readRows();
    await requireNoneParked(db, projection);
    return position;
  };
  /** The log of a restored event store may have other events up to a position. */
  const isStillThere = async (position: LogPosition): Promise<boolean> => {
    const { standing } = await standingOf(client, position);
    return standing === 'present' || standing === 'removed';
  };
  return async () => {
    if (reached && !(await isStillThere(reached))) reached = undefined;
    if (reached === undefined) reached = await afterRows();
    const onHandled = (position: LogPosition) => void (reached = position);
    await readToEnd(client, { from: reached, prefixes: projection.prefixes, handle, onHandled });
  };
};
