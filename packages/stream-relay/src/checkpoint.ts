import type { LogPosition } from '@cpg/event-store';
import { type Pool, type Queryable, transaction } from '@cpg/postgres';

/** The position of a subscription in the log, stored in `<schema>.checkpoints (name primary key, epoch,
 *  commit_position, prepare_position)`. `epoch` is a fencing token: each new leader increments it, so an earlier leader
 *  can no longer move the checkpoint. */
export interface Checkpoint {
  /** Both throw FencedError when another process has become leader since. */
  readonly load: () => Promise<LogPosition | null>;
  readonly save: (db: Queryable, position: LogPosition) => Promise<void>;
}

export class FencedError extends Error {
  override readonly name = 'FencedError';
}

export const acquireCheckpoint = async (
  pool: Pool,
  { schema, name }: { schema: string; name: string },
): Promise<Checkpoint> => {
  const acquired = await transaction(pool, async (db) => {
    // If a PostgreSQL crash lost this commit, two leaders would get the same epoch.
    await db.query('set local synchronous_commit = on');
    return db.query<{ epoch: string }>(
      `insert into ${schema}.checkpoints as stored (name, epoch) values ($1, 1)
       on conflict (name) do update set epoch = stored.epoch + 1 returning epoch`,
      [name],
    );
  });
  const epoch = acquired.rows[0]!.epoch;
  const fenced = () => new FencedError(`another process is the leader of ${schema}.${name} now`);
  return {
    load: async () => {
      const { rows } = await pool.query<{ commit: string | null; prepare: string | null }>(
        `select commit_position::text as commit, prepare_position::text as prepare from ${schema}.checkpoints where name = $1 and epoch = $2`,
        [name, epoch],
      );
      if (!rows[0]) throw fenced();
      const { commit, prepare } = rows[0];
      return commit && prepare ? { commit, prepare } : null;
    },
    save: async (db, { commit, prepare }) => {
      const saved = await db.query({
        name: `save-checkpoint-${schema}`,
        text: `update ${schema}.checkpoints set commit_position = $3, prepare_position = $4 where name = $1 and epoch = $2`,
        values: [name, epoch, commit, prepare],
      });
      if (saved.rowCount !== 1) throw fenced();
    },
  };
};
