import { once } from 'node:events';
import { STORE_STREAM } from '@cpg/contracts';
import { withTimeout } from '@cpg/platform';
import { type EventStoreDBClient, START } from '@eventstore/db-client';

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs `work` while a subscription to the store's identity shows that the connection stands. Whatever answers after it
 *  broke may be another event store. Rejects when the connection breaks; `work` then has to end, by its signal. */
export const watchConnection = async (
  client: EventStoreDBClient,
  stopping: AbortSignal,
  work: (connected: AbortSignal) => Promise<void>,
): Promise<void> => {
  const subscription = client.subscribeToStream(STORE_STREAM, { fromRevision: START });
  const broken = new AbortController();
  const breakWith = (error?: Error) => broken.abort(error ?? new Error('the connection to the event store broke'));
  subscription
    .on('error', breakWith)
    .on('end', () => breakWith())
    .on('close', () => breakWith());
  subscription.resume();
  try {
    const connected = AbortSignal.any([stopping, broken.signal]);
    await withTimeout(CONNECT_TIMEOUT_MS, once(subscription, 'confirmation', { signal: connected }));
    await work(connected);
    connected.throwIfAborted();
  } finally {
    void subscription.unsubscribe().catch(() => {});
  }
};
