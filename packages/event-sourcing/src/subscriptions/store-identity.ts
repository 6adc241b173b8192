import { STORE_STREAM, StoreIdentified } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { type EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { append } from '../store/append.ts';
import { eventHash, genesisHash } from '../store/recorded.ts';
import { eventBefore, readStream } from '../store/stream.ts';
import { asUnavailable } from '../store/unavailable.ts';

export type StoreIdentity = StoreIdentified['data'];

/** The identity of the event store; null when it has none yet. */
export const readStoreIdentity = async (client: EventStoreDBClient): Promise<StoreIdentity | null> => {
  const recorded = await readStream(client, STORE_STREAM, StoreIdentified);
  return recorded?.[0]?.event.data ?? null;
};

/** Writes the identity of an event store, once: when another service has written it meanwhile, that one counts. */
export const writeStoreIdentity = async (
  client: EventStoreDBClient,
  identity: StoreIdentity,
  actor: string,
): Promise<StoreIdentity> => {
  const event: StoreIdentified = { type: 'StoreIdentified', data: identity };
  const previousHash = genesisHash(STORE_STREAM);
  const id = newId('event');
  const metadata = {
    actor,
    requestId: id,
    $correlationId: id,
    $causationId: id,
    previousHash,
    hash: eventHash(previousHash, event),
  };
  const result = await append(client, STORE_STREAM, [{ id, event, metadata }], -1);
  if (result === 'appended') return identity;
  const stored = await readStoreIdentity(client);
  if (!stored) throw new Error(`the stream ${STORE_STREAM} was deleted: the event store cannot be identified`);
  return stored;
};

/** Whether a stream has an event, or was deleted. */
export const isKnownStream = async (client: EventStoreDBClient, stream: string): Promise<boolean> =>
  (await eventBefore(client, stream, 1)) !== null;

// Servers before 23.10 do not say when a subscription has caught up.
const FIRST_EVENT_TIMEOUT_MS = 3_000;

/** The data of the first event in streams with these prefixes; null when there is none. */
export const firstEventData = (client: EventStoreDBClient, prefixes: readonly string[]): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: [...prefixes] }) });
    const timer = setTimeout(() => end(null), FIRST_EVENT_TIMEOUT_MS);
    const end = (data: unknown) => {
      clearTimeout(timer);
      void subscription.unsubscribe().catch(() => {});
      resolve(data);
    };
    subscription.on('data', ({ event }) => {
      if (event && !event.type.startsWith('$')) end(event.data);
    });
    subscription.on('caughtUp', () => end(null));
    subscription.on('error', (error) => {
      clearTimeout(timer);
      reject(asUnavailable(error));
    });
  });
