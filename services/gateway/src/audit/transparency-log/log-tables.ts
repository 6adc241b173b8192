import type { Queryable } from '@cpg/platform/postgres';
import type { ReadTile, Tile } from '@cpg/transparency-log';

/** The revision of the last event of the stream that the tables include; -1 for none. */
export const readRevision = async (db: Queryable): Promise<number> => {
  const { rows } = await db.query<{ revision: string }>('select revision from gateway.transparency_log');
  return rows[0] ? Number(rows[0].revision) : -1;
};

/** The newest checkpoint, as a signed note. Null before the first one. */
export const readCheckpoint = async (db: Queryable): Promise<string | null> => {
  const { rows } = await db.query<{ checkpoint: string }>('select checkpoint from gateway.transparency_log');
  return rows[0]?.checkpoint ?? null;
};

/** Reads tiles of the log. */
export const tilesIn =
  (db: Queryable): ReadTile =>
  async (level, index) => {
    const { rows } = await db.query<{ hashes: Buffer }>(
      'select hashes from gateway.transparency_log_tiles where level = $1 and index = $2',
      [level, index],
    );
    return rows[0]?.hashes ?? Buffer.alloc(0);
  };

/** Writes the tiles and the checkpoint of an event of the stream. Does nothing unless the tables are at the event
 *  before. */
export const writeLog = async (
  db: Queryable,
  tiles: readonly Tile[],
  { revision, checkpoint }: { readonly revision: number; readonly checkpoint: string },
): Promise<void> => {
  const { rowCount } = await db.query(
    `insert into gateway.transparency_log (revision, checkpoint) select $1::bigint, $2::text
      where $1::bigint = 0 or exists (select from gateway.transparency_log)
     on conflict (is_only) do update set revision = $1, checkpoint = $2
      where transparency_log.revision = $1 - 1`,
    [revision, checkpoint],
  );
  if (rowCount !== 1) return;
  for (const { level, index, hashes } of tiles)
    await db.query(
      `insert into gateway.transparency_log_tiles (level, index, hashes) values ($1, $2, $3)
       on conflict (level, index) do update set hashes = excluded.hashes`,
      [level, index, hashes],
    );
};
