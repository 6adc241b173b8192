import { STORE_STREAM, StoreIdentified } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { type EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { appendOne, deletedStream, endOf } from '../store/append.ts';
import { asUnavailable } from '../store/errors.ts';
import { checkPosition } from '../store/log.ts';
import type { LogPosition } from '../store/recorded.ts';
import { eventBefore, readStream } from '../store/stream.ts';

/** The event store is not the one that the checkpoints know. An operator has to decide; the message tells how. */
export class UnknownStoreError extends Error {
  override readonly name = 'UnknownStoreError';

  /** The difference, without the advice. */
  readonly fact: string;

  constructor(fact: string, advice: string) {
    super(`${fact}: ${advice}`);
    this.fact = fact;
  }
}

interface StoredCheckpoint {
  readonly name: string;
  /** Null before the first leader has loaded it. */
  readonly storeId: string | null;
  readonly position: LogPosition | null;
}

interface CheckpointRow {
  readonly name: string;
  readonly store_id: string | null;
  readonly commit: string | null;
  readonly prepare: string | null;
  readonly event_id: string | null;
  readonly event_stream: string | null;
}

/** The checkpoints in use of a schema that `condition` selects. */
export const readCheckpoints = async (
  db: Queryable,
  schema: string,
  condition = 'true',
  values: readonly unknown[] = [],
): Promise<StoredCheckpoint[]> => {
  const { rows } = await db.query<CheckpointRow>(
    `select name, store_id, commit_position::text as commit, prepare_position::text as prepare,
            event_id, event_stream
     from ${schema}.checkpoints where retired_at is null and (${condition}) order by name`,
    [...values],
  );
  return rows.map(({ name, store_id, commit, prepare, event_id: id, event_stream: stream }) => ({
    name,
    storeId: store_id,
    position: commit && prepare ? { commit, prepare, ...(id && stream && { event: { id, stream } }) } : null,
  }));
};

/** Checks that the event store is the one that all checkpoints of a schema know. Throws UnknownStoreError. */
export const requireKnownStore = async (client: EventStoreDBClient, db: Queryable, schema: string): Promise<void> => {
  const identity = await readStoreIdentity(client);
  for (const checkpoint of await readCheckpoints(db, schema)) await verified(client, identity, schema, checkpoint);
};

/** Checks that the event store is the one that a checkpoint knows, and has the event at its position. Resolves to the
 *  position with the event there, even if the checkpoint did not store it. Throws UnknownStoreError. */
export const verified = async (
  client: EventStoreDBClient,
  identity: StoreIdentity | null,
  schema: string,
  { name, storeId, position }: StoredCheckpoint,
): Promise<LogPosition | null> => {
  if (storeId !== null && storeId !== identity?.storeId) {
    const found = identity ? `is ${identity.storeId}` : 'has no identity';
    throw unknown(`${found}, but the checkpoints of schema ${schema} belong to ${storeId}`, 'correct the address');
  }
  if (!position) return null;
  const { status, entry } = await checkPosition(client, position);
  const where = `checkpoint ${schema}.${name} (position ${position.commit})`;
  if (status === 'beyond-end')
    throw unknown(`ends before ${where}, so it was restored from an older backup`, 'restore a newer one');
  if (status === 'missing') {
    const event = position.event ? `event ${position.event.id} of ${position.event.stream}` : 'an event';
    throw unknown(`does not have ${event} at ${where}, so it is older or another one`, 'correct the address');
  }
  if (position.event || !entry) return position;
  return { ...position, event: { id: entry.event!.id, stream: entry.event!.streamId } };
};

const unknown = (fact: string, advice: string): UnknownStoreError =>
  new UnknownStoreError(`the event store at EVENTSTORE_URL ${fact}`, `${advice}, or run "admin store reconcile"`);

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
  if (await appendOne(client, STORE_STREAM, event, endOf(STORE_STREAM, null), actor)) return identity;
  const stored = await readStoreIdentity(client);
  if (!stored) throw deletedStream(STORE_STREAM);
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
