import { EventEmitter, once } from 'node:events';
import { STORE_STREAM } from '@cpg/contracts';
import { type Logger, retry, type StartGate, withTimeout, withTimeoutSignal } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { type EventStoreDBClient, START } from '@eventstore/db-client';
import { asUnavailable } from '../store/errors.ts';
import { requireKnownStore, UnknownStoreError } from './known-store.ts';

interface StoreWatchOptions {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly schema: string;
  readonly gate: Pick<StartGate, 'refuse'>;
  /** Called when a store that was known, and then was not, is known again: what this process keeps in memory may be of
   *  the other one. */
  readonly onReplaced: () => void;
  readonly log: Logger;
  /** How long to wait after each check that failed, in ms. */
  readonly timing?: { readonly retryMs: number; readonly recheckMs: number };
}

export interface StoreWatch {
  /** Resolves when the event store is known to be that of the checkpoints. Rejects only when `signal` aborts, which
   *  without one is at `stop`. */
  readonly untilKnown: (signal?: AbortSignal) => Promise<void>;
  /** For appends. Waits a moment after a reconnection.
   *  Throws `dependency_unavailable` when the store is not known, and after `stop`. */
  readonly requireKnown: () => Promise<void>;
  /** Checks again, after something else found a difference. */
  readonly recheck: () => void;
  readonly stop: () => Promise<void>;
}

const APPEND_WAIT_MS = 3_000;
const TIMING = { retryMs: 500, recheckMs: 1_000 };
/** A node of a cluster may lag behind the one that answered before. */
const ATTEMPTS = 4;

/** Checks at the start and after each reconnection that the event store is the one that the checkpoints know. Until
 *  then nothing is read from it and nothing is written to it. */
export const watchStore = ({
  client,
  db,
  schema,
  gate,
  onReplaced,
  log,
  timing = TIMING,
}: StoreWatchOptions): StoreWatch => {
  const stopping = new AbortController();
  const known = observedFlag();
  let wasKnown = false;
  let refusal: UnknownStoreError | null = null;

  const accept = () => {
    if (refusal) {
      log.info({ schema }, 'the event store is the one of the checkpoints again');
      if (wasKnown) {
        stopping.abort();
        return onReplaced();
      }
    }
    refusal = null;
    wasKnown = true;
    known.set(true);
  };
  const refuse = (error: UnknownStoreError) => {
    if (error.message !== refusal?.message) log.error({ schema }, error.message);
    refusal = error;
    gate.refuse(error);
    known.set(false);
  };
  const check = async (connected: AbortSignal): Promise<void> => {
    try {
      await patiently(() => requireKnownStore(client, db, schema), timing.retryMs, stopping.signal);
      // The answers may have come over another connection.
      connected.throwIfAborted();
      accept();
    } catch (error) {
      if (!(error instanceof UnknownStoreError)) throw error;
      refuse(error);
    }
  };
  const watchOnce = () =>
    watchConnection(client, stopping.signal, async (connected) => {
      connected.addEventListener('abort', () => known.set(false));
      while (!connected.aborted) {
        if (!known.get()) await check(connected);
        await known.changed(connected, known.get() ? undefined : timing.recheckMs);
      }
    });
  const running = retry(watchOnce, { signal: stopping.signal, maxMs: 500 }).catch(() => {});

  return {
    untilKnown: async (signal = stopping.signal) => {
      while (!known.get()) {
        await known.changed(signal);
        signal.throwIfAborted();
      }
    },
    requireKnown: async () => {
      const end = performance.now() + APPEND_WAIT_MS;
      while (!known.get()) {
        const waitMs = end - performance.now();
        if (refusal || stopping.signal.aborted || waitMs <= 0) throw asUnavailable(refusal);
        await known.changed(stopping.signal, Math.ceil(waitMs));
      }
    },
    recheck: () => known.set(false),
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const observedFlag = () => {
  let value = false;
  const changes = new EventEmitter().setMaxListeners(0);
  return {
    get: () => value,
    set: (to: boolean) => {
      value = to;
      changes.emit('change');
    },
    /** Resolves when it is set, after `ms`, or when `signal` aborts. */
    changed: async (signal: AbortSignal, ms?: number): Promise<void> => {
      const change = (ended: AbortSignal) => once(changes, 'change', { signal: ended });
      await (ms === undefined ? change(signal) : withTimeoutSignal(ms, signal, change)).catch(() => {});
    },
  };
};

const patiently = async (verify: () => Promise<void>, retryMs: number, signal: AbortSignal): Promise<void> =>
  retry(verify, {
    signal,
    firstMs: retryMs,
    maxMs: retryMs,
    onError: (error, attempt) => {
      if (!(error instanceof UnknownStoreError) || attempt >= ATTEMPTS) throw error;
    },
  });

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs `work` while a subscription to the store's identity shows that the connection stands. Whatever answers after it
 *  broke may be another event store. Rejects when the connection breaks; `work` then has to end, by its signal. */
const watchConnection = async (
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
