import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@cpg/runtime';
import { retry } from '@cpg/runtime';
import { type AllStreamResolvedEvent, type EventStoreDBClient, START, streamNameFilter } from '@eventstore/db-client';
import type { LogPosition } from './recorded.ts';

export interface SubscriptionOptions {
  readonly client: EventStoreDBClient;
  /** Streams whose names begin with one of these. */
  readonly prefixes: string[];
  /** Where to go on: read again after every break. Null is the start of the log. */
  readonly checkpoint: () => Promise<LogPosition | null>;
  /** Handles events in log order, and remembers `position` as the checkpoint once they are done, unless `settle` does. Must be safe to
   *  run again for any of them. A throw is tried again from the checkpoint. */
  readonly handle: (events: AllStreamResolvedEvent[], position: LogPosition) => Promise<void>;
  /** Finishes what was handled up to `position`. Also before a follower ends that can still do so. */
  readonly settle?: Settling & { readonly run: (position: LogPosition) => Promise<void> };
  readonly signal: AbortSignal;
  /** How long to rest after a batch that took so many milliseconds, while there is no backlog: what comes meanwhile shares the cost of one
   *  batch. An event that comes after a rest is handled at once. */
  readonly restMs?: (workedMs: number) => number;
  readonly log: Logger;
}

/** When what was handled is finished: once nothing came for so long, and so long after the first of it at the latest. */
export interface Settling {
  readonly quietMs: number;
  readonly withinMs: number;
}

const BATCH = 256;
const BUFFERED = 1_024;

/** Follows the log from the checkpoint, then live, in batches of what has come meanwhile, until `signal` aborts. Reconnects with backoff. */
export const follow = (options: SubscriptionOptions): Promise<void> => {
  const { signal, log, prefixes } = options;
  return retry(
    async () => {
      await followOnce(options);
      signal.throwIfAborted();
      throw new Error('the subscription ended');
    },
    { signal, onError: (error) => log.warn({ err: error, prefixes }, 'subscription broke, trying again') },
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};

const followOnce = async ({
  client,
  prefixes,
  checkpoint,
  handle,
  settle,
  signal,
  restMs = () => 0,
}: SubscriptionOptions): Promise<void> => {
  const from = await checkpoint();
  // What aborted meanwhile does not say so again.
  signal.throwIfAborted();
  const subscription = client.subscribeToAll({
    fromPosition: from ? { commit: BigInt(from.commit), prepare: BigInt(from.prepare) } : START,
    filter: streamNameFilter({ prefixes }),
  });
  const waiting: AllStreamResolvedEvent[] = [];
  let ended: { error?: Error | undefined } | null = null;
  let unsettled = null as { position: LogPosition; since: number; dueAt: number } | null;
  let wake = () => {};
  const end = (error?: Error) => {
    ended ??= { error };
    wake();
  };
  const abort = () => end();
  signal.addEventListener('abort', abort, { once: true });
  subscription
    .on('data', (resolved: AllStreamResolvedEvent) => {
      waiting.push(resolved);
      if (waiting.length >= BUFFERED) subscription.pause();
      wake();
    })
    .on('error', end)
    .on('end', () => end())
    .on('close', () => end());
  try {
    for (;;) {
      if (unsettled && (ended || performance.now() >= unsettled.dueAt)) {
        const { position } = unsettled;
        unsettled = null;
        await settle!.run(position);
      }
      if (ended) break;
      if (waiting.length === 0) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (unsettled) timer = setTimeout(resolve, unsettled.dueAt - performance.now());
        });
        clearTimeout(timer);
        continue;
      }
      const began = performance.now();
      const batch = waiting.splice(0, BATCH);
      if (waiting.length < BUFFERED / 2) subscription.resume();
      const { commit, prepare } = batch.at(-1)!.event!.position;
      const position = { commit: String(commit), prepare: String(prepare) };
      await handle(batch, position);
      if (settle) {
        const now = performance.now();
        const since = unsettled?.since ?? now;
        unsettled = { position, since, dueAt: Math.min(since + settle.withinMs, now + settle.quietMs) };
      }
      const rest = restMs(performance.now() - began);
      if (rest > 0 && waiting.length < BATCH) await sleep(rest, undefined, { signal }).catch(() => {});
    }
    const { error } = ended as { error?: Error };
    if (error) throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    await subscription.unsubscribe().catch(() => {});
  }
};
