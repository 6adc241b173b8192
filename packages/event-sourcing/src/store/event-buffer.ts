import type { AllStreamSubscription, AllStreamResolvedEvent } from '@eventstore/db-client';
import { asUnavailable } from './unavailable.ts';

const CAPACITY = 1_024;

/** Buffers the events of a subscription until they are taken. Pauses the subscription while the buffer is full
 *  (backpressure). */
export const bufferEvents = (subscription: AllStreamSubscription, signal: AbortSignal) => {
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
