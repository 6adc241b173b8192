import { follow, type LogPosition, type Settling } from '@cpg/event-store';
import { leadWhileAlone, type Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { type Checkpoint, FencedError, takeCheckpoint } from './checkpoint.ts';

export interface FollowerOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  /** For the connection that holds the leadership. */
  readonly databaseUrl: string;
  readonly schema: string;
  /** Names the checkpoint and, with the schema, the role. */
  readonly name: string;
  readonly prefixes: string[];
  readonly log: Logger;
  /** Done each time before the checkpoint is read: shuts out whoever led before, wherever the checkpoint's epoch does not reach. That the
   *  epoch is still ours afterwards is seen when the checkpoint is read. */
  readonly shutOutOthers?: () => Promise<void>;
  /** How long to rest after a batch that took so many milliseconds, while there is no backlog. */
  readonly restMs?: (workedMs: number) => number;
}

/** What is done with the log. Whichever of the two finishes something saves the position through `checkpoint`. */
export interface Following {
  /** Handles a batch. */
  readonly handle: (events: AllStreamResolvedEvent[], position: LogPosition, checkpoint: Checkpoint) => Promise<void>;
  /** Finishes what was handled up to `position`. */
  readonly settle?: Settling & { readonly run: (position: LogPosition, checkpoint: Checkpoint) => Promise<void> };
}

export interface Follower {
  readonly stop: () => Promise<void>;
}

/** Follows the log from a checkpoint, in one process at a time of all that run this: another takes over within seconds when it dies. */
export const followAlone = (
  { client, pool, databaseUrl, schema, name, prefixes, log, shutOutOthers, restMs }: FollowerOptions,
  { handle, settle }: Following,
): Follower =>
  leadWhileAlone({
    url: databaseUrl,
    role: `${schema}.${name}`,
    log,
    lead: async (signal) => {
      const fenced = new AbortController();
      const stepDown = async <T>(work: () => Promise<T>): Promise<T> => {
        try {
          return await work();
        } catch (error) {
          if (error instanceof FencedError) fenced.abort();
          throw error;
        }
      };
      const checkpoint = await takeCheckpoint(pool, { schema, name });
      await follow({
        client,
        prefixes,
        checkpoint: () =>
          stepDown(async () => {
            await shutOutOthers?.();
            return checkpoint.load();
          }),
        signal: AbortSignal.any([signal, fenced.signal]),
        ...(restMs && { restMs }),
        log,
        handle: (events, position) => stepDown(() => handle(events, position, checkpoint)),
        ...(settle && {
          settle: { ...settle, run: (position) => stepDown(() => settle.run(position, checkpoint)) },
        }),
      });
    },
  });
