import { AppError } from '@cpg/contracts';
import type { LogPosition } from '../store/recorded.ts';
import { standingOf } from '../store/log-entry.ts';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { checkpointOf, readToEnd, type RowsAndLog } from './rows-and-log.ts';

export interface FollowLogOptions extends RowsAndLog {
  /** What an event shows that the rows will include. */
  readonly keysIn: (entry: AllStreamResolvedEvent) => readonly string[];
  /** How many keys are kept in memory. */
  readonly maxKeys?: number;
}

/** What events show that the rows of a projection may not include yet. */
export interface BeyondRows {
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
    const { standing } = await standingOf(client, position);
    return standing === 'present' || standing === 'removed';
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
    if (keys.size > maxKeys)
      throw new AppError('dependency_unavailable', 'the read models are not complete: try again later', {
        cause: new Error(`${projection.tables[0]} lacks more than ${maxKeys} events`),
      });
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

/** Null is the start of the log. */
export const isBefore = (one: LogPosition | null, other: LogPosition | null): boolean => {
  if (one === null || other === null) return other !== null;
  const [commit, otherCommit] = [BigInt(one.commit), BigInt(other.commit)];
  return commit < otherCommit || (commit === otherCommit && BigInt(one.prepare) < BigInt(other.prepare));
};
