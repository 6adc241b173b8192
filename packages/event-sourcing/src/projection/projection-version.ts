import type { Queryable } from '@cpg/platform/postgres';
import { nameOf, type Projection } from './projection.ts';

// The version is the comment on the first table, so a swap of the table changes both at once.
const PREFIX = 'projection version ';

/** The version of the projection that built its live tables; null when none is recorded, as for tables that are new or
 *  were built before versions existed. */
export const readVersion = async (db: Queryable, projection: Projection): Promise<number | null> => {
  const { rows } = await db.query<{ comment: string | null }>(
    "select obj_description($1::regclass, 'pg_class') as comment",
    [nameOf(projection)],
  );
  const comment = rows[0]?.comment;
  return comment?.startsWith(PREFIX) ? Number(comment.slice(PREFIX.length)) : null;
};

/** Records that the current version of the projection built its live tables, with the rights of their owner. */
export const writeVersion = async (db: Queryable, { schema, tables, version }: Projection): Promise<void> => {
  await db.query(`select ${schema}.record_projection_version($1, $2)`, [tables[0], version]);
};
