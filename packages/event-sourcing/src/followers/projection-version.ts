import type { Queryable } from '@cpg/platform/postgres';
import type { Projection } from './projection.ts';

/** The version of the projection that built its live tables; null when none is recorded, as for new tables. */
export const readVersion = async (db: Queryable, { schema, tables }: Projection): Promise<number | null> => {
  const { rows } = await db.query<{ version: number }>(
    `select version from ${schema}.projection_versions where projection = $1`,
    [tables[0]],
  );
  return rows[0]?.version ?? null;
};

/** Records that the current version of the projection built its live tables. */
export const writeVersion = async (db: Queryable, { schema, tables, version }: Projection): Promise<void> => {
  await db.query(
    `insert into ${schema}.projection_versions (projection, version) values ($1, $2)
     on conflict (projection) do update set version = excluded.version`,
    [tables[0], version],
  );
};
