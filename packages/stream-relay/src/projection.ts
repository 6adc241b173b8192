import { type Queryable, transaction } from '@cpg/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { type LeaderSubscription, type LeaderSubscriptionOptions, subscribeAsLeader } from './leader-subscription.ts';

/** A table built from the log alone, so that it can be rebuilt at any time. */
export interface Projection {
  readonly schema: string;
  /** Table in `schema`; its primary key is `id`. */
  readonly table: string;
  /** Prefixes of the streams it is built from. */
  readonly prefixes: string[];
  /** Columns that hold leases or the like. They are not built from the log, so `verify` ignores them. */
  readonly transientColumns: readonly string[];
  /** Writes events to `table`. Idempotent, whatever state the rows are in. */
  readonly apply: (db: Queryable, events: AllStreamResolvedEvent[], table: string) => Promise<void>;
}

export const tableOf = ({ schema, table }: Pick<Projection, 'schema' | 'table'>): string => `${schema}.${table}`;

export interface ProjectionOptions extends Omit<LeaderSubscriptionOptions, 'schema' | 'name' | 'prefixes'> {
  readonly projection: Projection;
  /** Runs on each batch before it is projected. Must be idempotent. */
  readonly beforeProjecting?: (events: AllStreamResolvedEvent[]) => Promise<void>;
}

// No caller waits for this projection: the service that appended an event has already written the row.
const pauseAfter = (workedMs: number): number => 250 - workedMs;

/** Projects events whose rows were not written when they were appended, for example after a crash. Rows and checkpoint
 *  commit together. */
export const startProjection = ({
  projection,
  beforeProjecting,
  ...options
}: ProjectionOptions): LeaderSubscription => {
  const { schema, prefixes } = projection;
  return subscribeAsLeader(
    { pauseMs: pauseAfter, ...options, schema, prefixes, name: 'projection' },
    {
      handle: async (events, position, checkpoint) => {
        await beforeProjecting?.(events);
        await transaction(options.pool, async (db) => {
          await projection.apply(db, events, tableOf(projection));
          await checkpoint.save(db, position);
        });
      },
    },
  );
};
