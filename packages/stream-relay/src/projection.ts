import { type Queryable, transaction } from '@cpg/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { followAlone, type Follower, type FollowerOptions } from './follower.ts';

export interface CatchUpOptions extends FollowerOptions {
  /** Writes what the events say. Its rows and the checkpoint commit together; must be safe to run again for any event. */
  readonly apply: (db: Queryable, events: AllStreamResolvedEvent[]) => Promise<void>;
}

// Nobody waits for it: the service that appended has written the row already.
const EVERY_MS = 250;

/** Projects what the service that appended did not: after a crash, and when a read model is made anew. */
export const catchUp = ({ apply, ...options }: CatchUpOptions): Follower =>
  followAlone({ everyMs: EVERY_MS, ...options }, (events, position, checkpoint) =>
    transaction(options.pool, async (db) => {
      await apply(db, events);
      await checkpoint.save(db, position);
    }),
  );
