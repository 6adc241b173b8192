import { crc32 } from 'node:zlib';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';

/** The id of the order that an event belongs to. Null for an event of no order that is known: every shard handles
 *  it. */
export type OrderOf = (event: AllStreamResolvedEvent) => string | null | Promise<string | null>;

/** The order of an event whose stream is named after the order: the part after the first dash. */
export const orderOfStream: OrderOf = ({ event }) => event!.streamId.slice(event!.streamId.indexOf('-') + 1);

/** The shard of an order, from 0. Events of one order have one shard, so their order stays. */
export const shardOf = (orderId: string, shards: number): number => crc32(orderId) % shards;

/** A subscription whose events are split into shards. */
export interface ShardedSubscription {
  readonly schema: string;
  /** `relay` or the name of a projection. */
  readonly name: string;
}

/** The names of the checkpoints of a subscription. The name of a single one is that of the subscription. */
const checkpointsOf = (name: string, shards: number): string[] =>
  shards === 1 ? [name] : Array.from({ length: shards }, (_, index) => `${name}-${index + 1}-of-${shards}`);

const named = "name ~ ('^' || $1 || '(-[0-9]+-of-[0-9]+)?$')";

/** The checkpoints of a subscription that are in use, one for each shard, in the order of the shards. */
export const checkpointsInUse = async (db: Queryable, { schema, name }: ShardedSubscription): Promise<string[]> => {
  const { rowCount } = await db.query(`select from ${schema}.checkpoints where retired_at is null and ${named}`, [
    name,
  ]);
  return checkpointsOf(name, rowCount ?? 0);
};

/** The checkpoints of other numbers of shards that were in use before. */
export const retiredCheckpoints = async (db: Queryable, { schema, name }: ShardedSubscription): Promise<string[]> => {
  const { rows } = await db.query<{ name: string }>(
    `select name from ${schema}.checkpoints where retired_at is not null and ${named}`,
    [name],
  );
  return rows.map((row) => row.name);
};

/** Divides a subscription into so many shards. When it had another number, every new shard begins at the lowest of the
 *  earlier checkpoints, whose leaders are fenced: events may be handled again, and none is left out. Safe to repeat and
 *  to run in several processes; the last one decides. */
export const divide = async (
  pool: Pool,
  { schema, name }: ShardedSubscription,
  shards: number,
): Promise<{ changed: boolean }> =>
  transaction(pool, async (db) => {
    // If a PostgreSQL crash lost this commit, two numbers of shards would be in use.
    await db.query('set local synchronous_commit = on');
    await db.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [`shards of ${schema}.${name}`]);
    const table = `${schema}.checkpoints`;
    const { rows: inUse } = await db.query<{ name: string }>(
      `select name from (select * from ${table} where retired_at is null and ${named} order by name for update) as locked
       order by commit_position nulls first, prepare_position nulls first`,
      [name],
    );
    if (inUse.length === shards) return { changed: false };
    const earlier = inUse.map((row) => row.name);
    await db.query(`update ${table} set retired_at = now(), epoch = epoch + 1 where name = any($1)`, [earlier]);
    await db.query(
      `insert into ${table} as stored
         (name, epoch, commit_position, prepare_position, store_id, event_id, event_stream, event_position)
       select new.name, 1, commit_position, prepare_position, store_id, event_id, event_stream, event_position
       from unnest($1::text[]) as new (name) left join ${table} as lowest on lowest.name = $2
       on conflict (name) do update
         set retired_at = null, epoch = stored.epoch + 1, commit_position = excluded.commit_position,
             prepare_position = excluded.prepare_position, store_id = excluded.store_id, event_id = excluded.event_id,
             event_stream = excluded.event_stream, event_position = excluded.event_position`,
      [checkpointsOf(name, shards), earlier[0] ?? null],
    );
    await endLeaders(db, schema, earlier);
    return { changed: earlier.length > 0 };
  });

/** Ends the sessions of the leaders of checkpoints: an idle leader would find out at its next event only that its
 *  checkpoint was moved. */
export const endLeaders = async (db: Queryable, schema: string, checkpoints: readonly string[]): Promise<void> => {
  await db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = any($1)`,
    [checkpoints.map((name) => `leader ${schema}.${name}`)],
  );
};
