import { type Queryable, transaction } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import type { LeaderSubscription } from '../subscriptions/leader-subscription.ts';
import { type OrderingKeyOf, type ShardedOptions, subscribeInShards } from '../subscriptions/shards.ts';

/** Tables built from the log alone, so that they can be rebuilt at any time. */
export interface Projection {
  readonly schema: string;
  /** Names its checkpoint and its leader role in the schema. `projection`, the first one of a service, by default. */
  readonly name?: string;
  /** Tables in `schema`; the primary key of each is `id`. */
  readonly tables: readonly [string, ...string[]];
  /** Tables in `schema` in which triggers of `tables` count rows (ADR 16). */
  readonly counts?: readonly CountTable[];
  /** Increment it when the same events result in other rows. The service then rebuilds its tables. */
  readonly version: number;
  /** Prefixes of the streams it is built from. */
  readonly prefixes: string[];
  /** Decides the shard of an event. Default: streams are named after their ordering keys. */
  readonly orderingKeyOf?: OrderingKeyOf;
  /** Whether its rows depend on the sequence of events of several ordering keys. Then it is never split. */
  readonly isWhole?: boolean;
  /** Columns that hold leases or the like. They are not built from the log, so `verify` ignores them. */
  readonly transientColumns: readonly string[];
  /** Keeps what must not be forgotten of the rows, before they are made anew from an event store that lacks events. */
  readonly keepRows?: (db: Queryable) => Promise<void>;
  /** Writes events to the tables in `schema`, which may be a shadow schema. Idempotent, whatever state the rows are
   *  in. */
  readonly apply: (db: Queryable, events: AllStreamResolvedEvent[], schema: string) => Promise<void>;
}

/** A table in which triggers count the rows of another one: `n` by merchant, day in UTC, and `keys`. The day -infinity
 *  has the sum of all days. */
export interface CountTable {
  readonly name: string;
  /** The table whose rows it counts. */
  readonly of: string;
  readonly keys: readonly string[];
  /** The condition on the rows that are counted. */
  readonly where?: string;
}

/** The qualified names of the tables of a projection. */
export const tablesOf = ({ schema, tables }: Pick<Projection, 'schema' | 'tables'>): string[] =>
  tables.map((table) => `${schema}.${table}`);

export const FIRST_PROJECTION = 'projection';

/** Names a projection in messages and locks: by its first table. */
export const nameOf = ({ schema, tables }: Pick<Projection, 'schema' | 'tables'>): string => `${schema}.${tables[0]}`;

interface ProjectionOptions extends Omit<ShardedOptions, 'schema' | 'name' | 'prefixes' | 'orderingKeyOf'> {
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
  const { schema, prefixes, orderingKeyOf, isWhole, name = FIRST_PROJECTION } = projection;
  return subscribeInShards(
    {
      pauseMs: pauseAfter,
      ...options,
      schema,
      prefixes,
      name,
      ...(orderingKeyOf && { orderingKeyOf }),
      ...(isWhole && { shards: 1 }),
    },
    () => ({
      handle: async (events, position, checkpoint) => {
        await beforeProjecting?.(events);
        await transaction(options.pool, async (db) => {
          await projection.apply(db, events, schema);
          await checkpoint.save(db, position);
        });
      },
      handleParked: async (event) => {
        await beforeProjecting?.([event]);
        await transaction(options.pool, (db) => projection.apply(db, [event], schema));
      },
    }),
  );
};

/** The version of the projection that built its live tables; null when none is recorded, as for new tables. */
export const readVersion = async (db: Queryable, { schema, tables }: Projection): Promise<number | null> => {
  const { rows } = await db.query<{ version: number }>(
    `select version from ${schema}.projection_versions where projection = $1`,
    [tables[0]],
  );
  return rows[0]?.version ?? null;
};

/** Records that the current version of the projection built its live tables. */
export const writeVersion = async (db: Queryable, { schema, tables, version }: Projection): Promise<void> => {
  await db.query(
    `insert into ${schema}.projection_versions (projection, version) values ($1, $2)
     on conflict (projection) do update set version = excluded.version`,
    [tables[0], version],
  );
};

/** Filters out events that the rows of `table` already include. Most are included, because the service that appends an
 *  event also writes the row. `table` has the columns `id` and `revision`; a stream's name is `prefix` followed by the
 *  id. */
export const withoutProjected = async (
  db: Queryable,
  table: string,
  prefix: string,
  events: readonly AllStreamResolvedEvent[],
): Promise<AllStreamResolvedEvent[]> => {
  const idOf = ({ event }: AllStreamResolvedEvent) => event!.streamId.slice(prefix.length);
  const own = events.filter(({ event }) => event!.streamId.startsWith(prefix));
  const { rows } = await db.query<{ id: string; revision: string }>({
    name: `revisions ${table}`,
    text: `select id, revision from ${table} where id = any($1)`,
    values: [[...new Set(own.map(idOf))]],
  });
  const projected = new Map(rows.map(({ id, revision }) => [prefix + id, BigInt(revision)]));
  return events.filter(({ event }) => event!.revision > (projected.get(event!.streamId) ?? -1n));
};
