import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, retry, untilBack, type Wait } from '@cpg/platform';
import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { asUnavailable } from './errors.ts';
import { type LogPosition, positionOf } from './recorded.ts';

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

const CAPACITY = 1_024;

/** Buffers the events of a subscription until they are taken. Pauses the subscription while the buffer is full
 *  (backpressure). */
const bufferEvents = (subscription: AllStreamSubscription, signal: AbortSignal) => {
  const events: AllStreamResolvedEvent[] = [];
  let ended: { error?: Error | undefined } | null = null;
  let notify = () => {};
  const end = (error?: Error) => {
    ended ??= { error };
    notify();
  };
  const abort = () => end();
  signal.addEventListener('abort', abort, { once: true });
  subscription
    .on('data', (resolved: AllStreamResolvedEvent) => {
      events.push(resolved);
      if (events.length >= CAPACITY) subscription.pause();
      notify();
    })
    .on('error', end)
    .on('end', () => end())
    .on('close', () => end());
  return {
    size: (): number => events.length,
    take: (max: number): AllStreamResolvedEvent[] => {
      const taken = events.splice(0, max);
      if (events.length < CAPACITY / 2) subscription.resume();
      return taken;
    },
    /** Resolves at the next event, when the subscription ends, or after `timeoutMs`. */
    changed: async (timeoutMs?: number): Promise<void> => {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        notify = resolve;
        if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
    },
    /** Whether the subscription failed or ended, or `signal` aborted. */
    ended: (): boolean => ended !== null,
    throwIfFailed: (): void => {
      if (ended?.error) throw asUnavailable(ended.error);
    },
    close: async (): Promise<void> => {
      signal.removeEventListener('abort', abort);
      await subscription.unsubscribe().catch(() => {});
    },
  };
};

/** A flush runs after `idleMs` without events, and at most `maxDelayMs` after the first event that it completes. */
export interface FlushTiming {
  readonly idleMs: number;
  readonly maxDelayMs: number;
}

interface Flush extends FlushTiming {
  /** Completes all events handled up to `position`. */
  readonly run: (position: LogPosition) => Promise<void>;
}

/** Decides when handled events are flushed. Without `flush` it does nothing. */
const flushTimer = (flush: Flush | undefined) => {
  let pending = null as { position: LogPosition; firstAt: number; dueAt: number } | null;
  return {
    schedule: (position: LogPosition): void => {
      if (!flush) return;
      const now = performance.now();
      const firstAt = pending?.firstAt ?? now;
      pending = { position, firstAt, dueAt: Math.min(firstAt + flush.maxDelayMs, now + flush.idleMs) };
    },
    isDue: (): boolean => pending !== null && performance.now() >= pending.dueAt,
    /** Undefined while there is nothing to flush. */
    msUntilDue: (): number | undefined => (pending ? pending.dueAt - performance.now() : undefined),
    run: async (): Promise<void> => {
      if (!pending) return;
      const { position } = pending;
      pending = null;
      await flush!.run(position);
    },
  };
};
