import { crc32 } from 'node:zlib';
import { retry, untilAborted, untilBack } from '@cpg/platform';
import { joinGroup, type Membership, type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { endLeaders } from './checkpoint.ts';
import {
  type LeaderSubscription,
  type LeaderSubscriptionOptions,
  type Shard,
  subscribeAsLeader,
  type SubscriptionWork,
} from './leader-subscription.ts';

/** The ordering key of an event: events of one key keep their order. Null for an event whose key is unknown: every
 *  shard handles it. */
export type OrderingKeyOf = (event: AllStreamResolvedEvent) => string | null | Promise<string | null>;

/** The key of an event whose stream is named after it: the part after the first dash. */
const orderingKeyOfStream: OrderingKeyOf = ({ event }) => event!.streamId.slice(event!.streamId.indexOf('-') + 1);

/** The shard of an ordering key, from 0. */
export const shardOf = (orderingKey: string, shards: number): number => crc32(orderingKey) % shards;

/** A subscription whose events are split into shards. */
interface ShardedSubscription {
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
const divide = async (
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
         (name, epoch, commit_position, prepare_position, store_id, event_id, event_stream)
       select new.name, 1, commit_position, prepare_position, store_id, event_id, event_stream
       from unnest($1::text[]) as new (name) left join ${table} as lowest on lowest.name = $2
       on conflict (name) do update
         set retired_at = null, epoch = stored.epoch + 1, commit_position = excluded.commit_position,
             prepare_position = excluded.prepare_position, store_id = excluded.store_id, event_id = excluded.event_id,
             event_stream = excluded.event_stream`,
      [checkpointsOf(name, shards), earlier[0] ?? null],
    );
    await endLeaders(db, schema, earlier);
    return { changed: earlier.length > 0 };
  });

export interface ShardedOptions extends LeaderSubscriptionOptions {
  /** The number of shards from now on. Default: 1. */
  readonly shards?: number;
  /** Default: streams are named after their keys. */
  readonly orderingKeyOf?: OrderingKeyOf;
}

/** Runs a catch-up subscription whose events are split by ordering key into shards. Each shard has its own leader, and
 *  processes lead equal numbers of shards. `workOf` makes the work of a shard from the name of its checkpoint. When
 *  another process divides the subscription anew, this one follows. */
export const subscribeInShards = (
  options: ShardedOptions,
  workOf: (checkpoint: string) => SubscriptionWork,
): LeaderSubscription => {
  const { pool, schema, name, shards = 1, wait, log } = options;
  const stopping = new AbortController();
  const subscription = { schema, name };
  const attempt = <T>(work: () => Promise<T>): Promise<T> =>
    retry(work, {
      signal: stopping.signal,
      ...untilBack(wait),
      onError: (error) => log.warn({ err: error, subscription: name }, 'cannot read the shards, retrying'),
    });
  const running = (async () => {
    const { changed } = await attempt(() => divide(pool, subscription, shards));
    if (changed) log.info({ subscription: `${schema}.${name}`, shards }, 'divided into another number of shards');
    while (!stopping.signal.aborted) {
      const checkpoints = await attempt(() => checkpointsInUse(pool, subscription));
      await leadShards(options, checkpoints, workOf, stopping.signal);
    }
  })().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

/** Leads a fair part of the shards until `signal` aborts or the subscription has other shards. */
const leadShards = async (
  options: ShardedOptions,
  checkpoints: readonly string[],
  workOf: (checkpoint: string) => SubscriptionWork,
  signal: AbortSignal,
): Promise<void> => {
  const { databaseUrl: url, schema, name, orderingKeyOf = orderingKeyOfStream, log } = options;
  const retired = new AbortController();
  const ended = AbortSignal.any([signal, retired.signal]);
  const leading = new Map<string, LeaderSubscription | 'stopping'>();
  const stopping = new Set<Promise<void>>();

  const start = (checkpoint: string, index: number) => {
    const has: Shard['has'] = async (event) => {
      const key = await orderingKeyOf(event);
      return key === null || shardOf(key, checkpoints.length) === index;
    };
    const shard: Shard = {
      checkpoint,
      onRetired: () => retired.abort(),
      ...(checkpoints.length > 1 && { has }),
    };
    leading.set(checkpoint, subscribeAsLeader(options, shard, workOf(checkpoint)));
  };
  const stop = (checkpoint: string, leader: LeaderSubscription) => {
    leading.set(checkpoint, 'stopping');
    const stopped = leader.stop().finally(() => {
      leading.delete(checkpoint);
      stopping.delete(stopped);
    });
    stopping.add(stopped);
  };
  /** A process takes the shards whose number has its rank as remainder. A single shard is open to all. */
  const assign = (membership: Membership | null) => {
    if (ended.aborted) return;
    for (const [index, checkpoint] of checkpoints.entries()) {
      const isOwn = membership !== null && index % membership.members === membership.rank;
      const leader = leading.get(checkpoint);
      if (isOwn && !leader) start(checkpoint, index);
      if (!isOwn && leader && leader !== 'stopping') stop(checkpoint, leader);
    }
  };
  const group =
    checkpoints.length > 1 ? joinGroup({ url, group: `${schema}.${name}`, log, onMembership: assign }) : null;
  if (!group) checkpoints.forEach(start);
  await untilAborted(ended);
  await group?.stop();
  for (const [checkpoint, leader] of leading) if (leader !== 'stopping') stop(checkpoint, leader);
  await Promise.all(stopping);
};
