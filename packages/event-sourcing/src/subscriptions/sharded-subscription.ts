import { joinGroup, type Membership } from '@cpg/platform/postgres';
import { retry, untilAborted, untilBack } from '@cpg/platform';
import {
  type LeaderSubscription,
  type LeaderSubscriptionOptions,
  type Shard,
  subscribeAsLeader,
  type SubscriptionWork,
} from './leader-subscription.ts';
import { checkpointsInUse, divide, type OrderOf, orderOfStream, shardOf } from './shards.ts';

export interface ShardedOptions extends LeaderSubscriptionOptions {
  /** The number of shards from now on. Default: 1. */
  readonly shards?: number;
  /** The order of an event, which decides its shard. Default: streams are named after their orders. */
  readonly orderOf?: OrderOf;
}

/** Runs a catch-up subscription whose events are split by order into shards. Each shard has a leader of its own; the
 *  processes that run the subscription lead equal numbers of shards. `workOf` makes the work of a shard from the name
 *  of its checkpoint. When another process divides the subscription anew, this one follows. */
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
  const { databaseUrl: url, schema, name, orderOf = orderOfStream, log } = options;
  const retired = new AbortController();
  const ended = AbortSignal.any([signal, retired.signal]);
  const leading = new Map<string, LeaderSubscription | 'stopping'>();
  const stopping = new Set<Promise<void>>();

  const start = (checkpoint: string, index: number) => {
    const has: Shard['has'] = async (event) => {
      const orderId = await orderOf(event);
      return orderId === null || shardOf(orderId, checkpoints.length) === index;
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
