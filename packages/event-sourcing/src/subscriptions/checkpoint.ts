import type { LogPosition } from '../store/recorded.ts';
import { readCheckpoints, readStoreIdentity, verified } from './known-store.ts';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** The position of a subscription in the log, stored in `<schema>.checkpoints`. `epoch` is a fencing token: each new
 *  leader increments it, so an earlier leader can no longer move the checkpoint. The identity of the store and the
 *  event at the position show whether the store still is the same. */
export interface Checkpoint {
  /** Throws UnknownStoreError when the event store is not the one of the checkpoint. */
  readonly load: () => Promise<LogPosition | null>;
  /** Both throw FencedError when another process has become leader since. `save` also does when the checkpoint is not
   *  the one that this process last loaded or saved: a PostgreSQL crash lost it, and with it perhaps rows before it. */
  readonly save: (db: Queryable, position: LogPosition) => Promise<void>;
}

export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** The subscription has another number of shards now, so this checkpoint is no longer in use. */
export class RetiredError extends Error {
  override readonly name = 'RetiredError';
}

/** Takes over a checkpoint from its earlier leader. Throws RetiredError. */
export const acquireCheckpoint = async (
  pool: Pool,
  { client, schema, name }: { client: EventStoreDBClient; schema: string; name: string },
): Promise<Checkpoint> => {
  const acquired = await transaction(pool, async (db) => {
    // If a PostgreSQL crash lost this commit, two leaders would get the same epoch.
    await db.query('set local synchronous_commit = on');
    return db.query<{ epoch: string }>(
      `insert into ${schema}.checkpoints as stored (name, epoch) values ($1, 1)
       on conflict (name) do update set epoch = stored.epoch + 1 where stored.retired_at is null returning epoch`,
      [name],
    );
  });
  const epoch = acquired.rows[0]?.epoch;
  if (epoch === undefined) throw new RetiredError(`the checkpoint ${schema}.${name} is not in use any more`);
  let storeId: string | null = null;
  let previous: string | null = null;
  const save: Checkpoint['save'] = async (db, { commit, prepare, event }) => {
    const saved = await db.query({
      name: `save-checkpoint-${schema}`,
      text: `update ${schema}.checkpoints
             set commit_position = $3, prepare_position = $4, store_id = $5, event_id = $6, event_stream = $7
             where name = $1 and epoch = $2 and commit_position is not distinct from $8`,
      values: [name, epoch, commit, prepare, storeId, event?.id, event?.stream, previous],
    });
    if (saved.rowCount !== 1) throw new FencedError(`the checkpoint ${schema}.${name} was moved by something else`);
    previous = commit;
  };
  return {
    load: async () => {
      const identity = await readStoreIdentity(client);
      const [stored] = await readCheckpoints(pool, schema, 'name = $1 and epoch = $2', [name, epoch]);
      if (!stored) throw new FencedError(`another process is the leader of ${schema}.${name} now`);
      previous = stored.position?.commit ?? null;
      const position = await verified(client, identity, schema, stored);
      storeId = identity?.storeId ?? null;
      const isLearned = stored.storeId !== storeId || position?.event !== stored.position?.event;
      if (position && isLearned) await save(pool, position);
      return position;
    },
    save,
  };
};

/** Moves a checkpoint for an operator, in the caller's transaction, whose commit then is durable. The next epoch fences
 *  its leader, which then loads it anew. */
export const moveCheckpoint = async (
  db: Queryable,
  { schema, name, storeId }: { schema: string; name: string; storeId: string },
  position: LogPosition | null,
): Promise<void> => {
  await db.query('set local synchronous_commit = on');
  await db.query(
    `update ${schema}.checkpoints
     set epoch = epoch + 1, commit_position = $2, prepare_position = $3, store_id = $4,
         event_id = $5, event_stream = $6
     where name = $1`,
    [name, position?.commit, position?.prepare, storeId, position?.event?.id, position?.event?.stream],
  );
  await endLeaders(db, schema, [name]);
};

/** Ends the sessions of the leaders of checkpoints: an idle leader would find out at its next event only that its
 *  checkpoint was moved. */
export const endLeaders = async (db: Queryable, schema: string, checkpoints: readonly string[]): Promise<void> => {
  await db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = any($1)`,
    [checkpoints.map((name) => `leader ${schema}.${name}`)],
  );
};
