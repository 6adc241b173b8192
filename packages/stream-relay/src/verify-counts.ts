import type { Queryable } from '@cpg/postgres';
import { type Difference, MAX_DIFFERENCES } from './difference.ts';
import type { CountTable, Projection } from './projection.ts';

/** Compares the counts of a projection with its rows. Each comparison is one statement and so one snapshot: writes in
 *  progress make no difference. */
export const verifyCounts = async (
  db: Queryable,
  { schema, tables, counts = [] }: Pick<Projection, 'schema' | 'tables' | 'counts'>,
): Promise<{ differ: number; differences: readonly Difference[] }> => {
  const found = { differ: 0, differences: [] as Difference[] };
  for (const count of counts) {
    // An earlier version wrote rows without these triggers: uncounted, or with fewer counts.
    if (!(await hasTriggers(db, `${schema}.${tables[0]}`))) continue;
    const { rows } = await db.query<Difference & { differ: string }>(comparison(schema, count));
    found.differ += Number(rows[0]?.differ ?? 0);
    found.differences.push(...rows.map(({ table, id, live, replayed }) => ({ table, id, live, replayed })));
  }
  return found;
};

const hasTriggers = async (db: Queryable, table: string): Promise<boolean> => {
  const { rowCount } = await db.query(
    `select from pg_trigger where tgrelid = $1::regclass and tgfoid::regproc::text like '%\\_with\\_totals\\_in\\_5\\_spans' limit 1`,
    [table],
  );
  return rowCount === 1;
};

// A count of zero is the same as no count.
const comparison = (schema: string, { name, primaryKey, recount }: CountTable): string => {
  const key = primaryKey.join(', ');
  const counted = (alias: string, from: string) =>
    `(select ${key}, to_jsonb(${alias}) as counts from ${from} as ${alias}
      where exists (select from jsonb_each(to_jsonb(${alias}) - '{${primaryKey.join(',')}}'::text[]) where value <> '0'))`;
  return `select '${schema}.${name}' as table, concat_ws(' ', ${key}) as id,
      live.counts as live, recounted.counts as replayed, count(*) over () as differ
    from ${counted('c', `${schema}.${name}`)} as live full join ${counted('r', `(${recount(schema)})`)} as recounted
      using (${key})
    where live.counts is distinct from recounted.counts order by ${key} limit ${MAX_DIFFERENCES}`;
};
