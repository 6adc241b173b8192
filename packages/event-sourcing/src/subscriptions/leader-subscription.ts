import { type Logger, untilAborted, type Wait } from '@cpg/platform';
import { type Pool, startLeaderElection } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { type FlushTiming, runSubscription } from '../store/subscription.ts';
import type { LogPosition } from '../store/recorded.ts';
import { acquireCheckpoint, type Checkpoint, FencedError, RetiredError } from './checkpoint.ts';
import { isolateFaults, parkedStreams } from './parked-streams.ts';
import type { Lags } from './lags.ts';
import { UnknownStoreError } from './known-store.ts';
import type { StoreWatch } from './store-watch.ts';

export interface LeaderSubscriptionOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  /** For the connection that holds the leader's lock. */
  readonly databaseUrl: string;
  readonly schema: string;
  /** Names the subscription. */
  readonly name: string;
  readonly prefixes: string[];
  readonly log: Logger;
  /** Where it is watched, nothing is read from an event store that the checkpoints do not know. */
  readonly store?: Pick<StoreWatch, 'untilKnown' | 'recheck'>;
  readonly lags?: Lags | undefined;
  /** Milliseconds to pause after a batch that took `workedMs`, while there is no backlog. */
  readonly pauseMs?: (workedMs: number) => number;
  /** Waits between attempts. */
  readonly wait?: Wait | undefined;
}

/** A part of the events of a subscription, which has a leader of its own. */
export interface Shard {
  /** Names its checkpoint and, with the schema, the leader role. */
  readonly checkpoint: string;
  /** Whether an event belongs to it; every event where it is absent. */
  readonly has?: (event: AllStreamResolvedEvent) => Promise<boolean>;
  /** Called when the subscription has another number of shards. */
  readonly onRetired: () => void;
}

/** The work of a leader on the log. `flush` saves the position through `checkpoint`; without `flush`, `handle` does. */
export interface SubscriptionWork {
  readonly handle: (events: AllStreamResolvedEvent[], position: LogPosition, checkpoint: Checkpoint) => Promise<void>;
  /** Handles an event of a parked stream, as `handle` does, and completes it without moving the checkpoint. */
  readonly handleParked: (event: AllStreamResolvedEvent) => Promise<void>;
  /** Completes all events handled up to `position`. */
  readonly flush?: FlushTiming & { readonly run: (position: LogPosition, checkpoint: Checkpoint) => Promise<void> };
  /** Fences earlier leaders where the checkpoint's epoch does not protect, for example in Kafka. Runs before each load
   *  of the checkpoint, which then shows whether this process still leads. */
  readonly fencePredecessors?: () => Promise<void>;
  /** Runs after the work has ended. */
  readonly close?: () => Promise<void>;
}

export interface LeaderSubscription {
  readonly stop: () => Promise<void>;
}

/** Runs a catch-up subscription of one shard from its checkpoint in one elected process. When the leader dies, another
 *  process takes over within seconds. An event that cannot be handled parks its stream; other streams go on. */
export const subscribeAsLeader = (
  { databaseUrl, ...options }: LeaderSubscriptionOptions,
  shard: Shard,
  work: SubscriptionWork,
): LeaderSubscription => {
  const election = startLeaderElection({
    url: databaseUrl,
    role: `${options.schema}.${shard.checkpoint}`,
    log: options.log,
    lead: async (signal) => {
      try {
        await leadShard(options, shard, work, signal);
      } catch (error) {
        if (!(error instanceof RetiredError)) throw error;
        shard.onRetired();
        await untilAborted(signal);
      }
    },
  });
  return {
    stop: async () => {
      await election.stop();
      await work.close?.();
    },
  };
};

const leadShard = async (
  {
    client,
    pool,
    schema,
    name,
    prefixes,
    log,
    store,
    lags,
    pauseMs,
    wait,
  }: Omit<LeaderSubscriptionOptions, 'databaseUrl'>,
  { checkpoint: checkpointName, has }: Shard,
  { handle, handleParked, flush, fencePredecessors }: SubscriptionWork,
  signal: AbortSignal,
): Promise<void> => {
  const fenced = new AbortController();
  const stopWhenFenced = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FencedError) fenced.abort();
      if (error instanceof UnknownStoreError) store?.recheck();
      throw error;
    }
  };
  const checkpoint = await acquireCheckpoint(pool, { client, schema, name: checkpointName });
  const lag = lags?.measure(checkpointName);
  const parked = parkedStreams({ client, pool, schema, name, log, ...(has && { isOwn: has }) });
  const running = AbortSignal.any([signal, fenced.signal]);
  const handleIsolated = isolateFaults((events, position) => handle(events, position, checkpoint), parked, running);
  await runSubscription({
    client,
    prefixes,
    checkpoint: () =>
      stopWhenFenced(async () => {
        await store?.untilKnown(running);
        await fencePredecessors?.();
        const position = await checkpoint.load();
        await parked.load();
        if (parked.isRetryDue()) await parked.retry(handleParked);
        return position;
      }),
    signal: running,
    ...(pauseMs && { pauseMs }),
    wait,
    log,
    handle: (events, position) =>
      stopWhenFenced(async () => {
        if (parked.isRetryDue()) await parked.retry(handleParked);
        lag?.received(events);
        await handleIsolated(has ? await only(events, has) : events, position);
        if (!flush) lag?.completed();
      }),
    ...(flush && {
      flush: {
        ...flush,
        run: (position) =>
          stopWhenFenced(async () => {
            await flush.run(position, checkpoint);
            lag?.completed();
          }),
      },
    }),
  }).finally(() => lag?.end());
};

const only = async (
  events: AllStreamResolvedEvent[],
  has: (event: AllStreamResolvedEvent) => Promise<boolean>,
): Promise<AllStreamResolvedEvent[]> => {
  const selected = [];
  for (const event of events) if (await has(event)) selected.push(event);
  return selected;
};
