import { type FlushTiming, type LogPosition, runSubscription } from '@cpg/event-store';
import { startLeaderElection, type Pool } from '@cpg/postgres';
import type { Logger, Wait } from '@cpg/runtime';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { acquireCheckpoint, type Checkpoint, FencedError } from './checkpoint.ts';
import { isolateFaults } from './isolate-faults.ts';
import { UnknownStoreError } from './known-store.ts';
import { parkedStreams } from './parked-streams.ts';
import type { StoreWatch } from './store-watch.ts';

export interface LeaderSubscriptionOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  /** For the connection that holds the leader's lock. */
  readonly databaseUrl: string;
  readonly schema: string;
  /** Names the checkpoint and, with the schema, the leader role. */
  readonly name: string;
  readonly prefixes: string[];
  readonly log: Logger;
  /** Fences earlier leaders where the checkpoint's epoch does not protect, for example in Kafka. Runs before each load
   *  of the checkpoint, which then shows whether this process still leads. */
  readonly fencePredecessors?: () => Promise<void>;
  /** Where it is watched, nothing is read from an event store that the checkpoints do not know. */
  readonly store?: Pick<StoreWatch, 'untilKnown' | 'recheck'>;
  /** Milliseconds to pause after a batch that took `workedMs`, while there is no backlog. */
  readonly pauseMs?: (workedMs: number) => number;
  /** Waits between attempts. */
  readonly wait?: Wait | undefined;
}

/** What a leader does with the log. `flush` saves the position through `checkpoint`; without `flush`, `handle` does. */
export interface SubscriptionWork {
  readonly handle: (events: AllStreamResolvedEvent[], position: LogPosition, checkpoint: Checkpoint) => Promise<void>;
  /** Handles an event of a parked stream, as `handle` does, and completes it without moving the checkpoint. */
  readonly handleParked: (event: AllStreamResolvedEvent) => Promise<void>;
  /** Completes all events handled up to `position`. */
  readonly flush?: FlushTiming & { readonly run: (position: LogPosition, checkpoint: Checkpoint) => Promise<void> };
}

export interface LeaderSubscription {
  readonly stop: () => Promise<void>;
}

/** Runs a catch-up subscription from a checkpoint in one elected process. When the leader dies, another process takes
 *  over within seconds. An event that cannot be handled parks its stream; other streams go on. */
export const subscribeAsLeader = (
  {
    client,
    pool,
    databaseUrl,
    schema,
    name,
    prefixes,
    log,
    fencePredecessors,
    store,
    pauseMs,
    wait,
  }: LeaderSubscriptionOptions,
  { handle, handleParked, flush }: SubscriptionWork,
): LeaderSubscription =>
  startLeaderElection({
    url: databaseUrl,
    role: `${schema}.${name}`,
    log,
    lead: async (signal) => {
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
      const checkpoint = await acquireCheckpoint(pool, { client, schema, name });
      const parked = parkedStreams({ client, pool, schema, name, log });
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
            await handleIsolated(events, position);
          }),
        ...(flush && {
          flush: { ...flush, run: (position) => stopWhenFenced(() => flush.run(position, checkpoint)) },
        }),
      });
    },
  });
