import { type Queryable, transaction } from '@cpg/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { followAlone, type Follower, type FollowerOptions } from './follower.ts';

/** A table that is made from the log and nothing else, and so can be made anew. */
export interface Projection {
  readonly schema: string;
  /** In the schema; its key is `id`. */
  readonly table: string;
  /** Of the streams it is made from. */
  readonly prefixes: string[];
  /** Columns that say who works on a row, not what the log says of it. */
  readonly passing: readonly string[];
  /** Writes what the events say to `table`. Must be safe to run again for any of them, whatever the rows are by then. */
  readonly apply: (db: Queryable, events: AllStreamResolvedEvent[], table: string) => Promise<void>;
}

export const tableOf = ({ schema, table }: Pick<Projection, 'schema' | 'table'>): string => `${schema}.${table}`;

export interface CatchUpOptions extends Omit<FollowerOptions, 'schema' | 'name' | 'prefixes'> {
  readonly projection: Projection;
  /** Done with each batch before it is projected; must be safe to run again. */
  readonly first?: (events: AllStreamResolvedEvent[]) => Promise<void>;
}

// Nobody waits for it: the service that appended has written the row already.
const restAfter = (workedMs: number): number => 250 - workedMs;

/** Projects what the service that appended did not: after a crash. Rows and checkpoint commit together. */
export const catchUp = ({ projection, first, ...options }: CatchUpOptions): Follower => {
  const { schema, prefixes } = projection;
  const follower = { restMs: restAfter, ...options, schema, prefixes, name: 'projection' };
  return followAlone(follower, {
    handle: async (events, position, checkpoint) => {
      await first?.(events);
      await transaction(options.pool, async (db) => {
        await projection.apply(db, events, tableOf(projection));
        await checkpoint.save(db, position);
      });
    },
  });
};
