import type { LogPosition } from '../store/recorded.ts';
import { readStoreIdentity, type StoreIdentity } from './store-identity.ts';
import { standingOf } from '../store/log-entry.ts';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** The event store is not the one that the checkpoints know. An operator has to decide; the message tells how. */
export class UnknownStoreError extends Error {
  override readonly name = 'UnknownStoreError';

  /** What differs, without the advice. */
  readonly fact: string;

  constructor(fact: string, advice: string) {
    super(`${fact}: ${advice}`);
    this.fact = fact;
  }
}

export interface StoredCheckpoint {
  readonly name: string;
  /** Null in checkpoints of versions that did not store it. */
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

/** The checkpoints in use of a schema that `condition` selects. An earlier version moves a checkpoint without its
 *  event, which then belongs to another position and is left out. */
export const readCheckpoints = async (
  db: Queryable,
  schema: string,
  condition = 'true',
  values: readonly unknown[] = [],
): Promise<StoredCheckpoint[]> => {
  const { rows } = await db.query<CheckpointRow>(
    `select name, store_id, commit_position::text as commit, prepare_position::text as prepare,
            case when event_position = commit_position then event_id end as event_id, event_stream
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
  const { standing, entry } = await standingOf(client, position);
  const where = `checkpoint ${schema}.${name} (position ${position.commit})`;
  if (standing === 'beyond-end')
    throw unknown(`ends before ${where}, so it was restored from an older backup`, 'restore a newer one');
  if (standing === 'missing') {
    const event = position.event ? `event ${position.event.id} of ${position.event.stream}` : 'an event';
    throw unknown(`does not have ${event} at ${where}, so it is older or another one`, 'correct the address');
  }
  if (position.event || !entry) return position;
  return { ...position, event: { id: entry.event!.id, stream: entry.event!.streamId } };
};

const unknown = (fact: string, advice: string): UnknownStoreError =>
  new UnknownStoreError(`the event store at EVENTSTORE_URL ${fact}`, `${advice}, or run "admin store reconcile"`);
