import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, retry, untilBack, type Wait } from '@cpg/platform';
import { type AllStreamResolvedEvent, type EventStoreDBClient, START, streamNameFilter } from '@eventstore/db-client';
import { bufferEvents } from './event-buffer.ts';
import { type Flush, flushTimer } from './flush-timer.ts';
import { type LogPosition, positionOf } from './recorded.ts';
import { asUnavailable } from './unavailable.ts';

export interface SubscriptionOptions {
  readonly client: EventStoreDBClient;
  /** Stream name prefixes to receive. */
  readonly prefixes: string[];
  /** Loads the position to continue from, again after each reconnect. Null is the start of the log. */
  readonly checkpoint: () => Promise<LogPosition | null>;
  /** Handles events in log order, then saves `position` as the checkpoint, unless `flush` does. Must be idempotent.
   *  When it throws, the subscription restarts from the checkpoint. */
  readonly handle: (events: AllStreamResolvedEvent[], position: LogPosition) => Promise<void>;
  /** Completes handled events. Also runs before the subscription ends, unless a handler failed. */
  readonly flush?: Flush;
  readonly signal: AbortSignal;
  /** Milliseconds to pause after a batch that took `workedMs`, while there is no backlog, so that more events share the
   *  cost of one batch. An event that arrives after the pause is handled at once. */
  readonly pauseMs?: (workedMs: number) => number;
  /** Waits between attempts. */
  readonly wait?: Wait | undefined;
  readonly log: Logger;
}

const BATCH = 256;
/** How long to wait for the other events of an append, which arrive one by one, after its first. */
const LINGER_MS = 2;

/** Runs a catch-up subscription: reads the log from the checkpoint, then follows it live, in batches, until `signal`
 *  aborts. Reconnects with backoff. */
export const runSubscription = (options: SubscriptionOptions): Promise<void> => {
  const { signal, wait, log, prefixes } = options;
  return retry(
    async () => {
      await subscribeOnce(options);
      signal.throwIfAborted();
      throw asUnavailable(new Error('the subscription ended'));
    },
    {
      signal,
      ...untilBack(wait),
      onError: (error) => log.warn({ err: error, prefixes }, 'subscription failed, retrying'),
    },
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};

const subscribeOnce = async ({
  client,
  prefixes,
  checkpoint,
  handle,
  flush,
  signal,
  pauseMs = () => 0,
}: SubscriptionOptions): Promise<void> => {
  const from = await checkpoint();
  // An abort during the load fires no further event.
  signal.throwIfAborted();
  const subscription = client.subscribeToAll({
    fromPosition: from ? { commit: BigInt(from.commit), prepare: BigInt(from.prepare) } : START,
    filter: streamNameFilter({ prefixes }),
  });
  const buffer = bufferEvents(subscription, signal);
  const flushing = flushTimer(flush);
  try {
    for (;;) {
      if (buffer.ended() || flushing.isDue()) await flushing.run();
      if (buffer.ended()) break;
      if (buffer.size() === 0) {
        await buffer.changed(flushing.msUntilDue());
        await sleep(LINGER_MS, undefined, { signal }).catch(() => {});
        continue;
      }
      const startedAt = performance.now();
      const batch = buffer.take(BATCH);
      const position = positionOf(batch.at(-1)!);
      await handle(batch, position);
      flushing.schedule(position);
      const pause = pauseMs(performance.now() - startedAt);
      if (pause > 0 && buffer.size() < BATCH) await sleep(pause, undefined, { signal }).catch(() => {});
    }
    buffer.throwIfFailed();
  } finally {
    await buffer.close();
  }
};
