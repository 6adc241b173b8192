import type { Queryable } from '@cpg/platform/postgres';
import { type Difference, MAX_DIFFERENCES } from './difference.ts';
import type { CountTable, Projection } from '@cpg/event-sourcing';

/** Compares the counts of a projection with its rows. Each comparison is one statement and so one snapshot: writes in
 *  progress make no difference. */
export const verifyCounts = async (
  db: Queryable,
  { schema, counts = [] }: Pick<Projection, 'schema' | 'counts'>,
): Promise<{ differ: number; differences: readonly Difference[] }> => {
  const found = { differ: 0, differences: [] as Difference[] };
  for (const count of counts) {
    const { rows } = await db.query<Difference & { differ: string }>(comparison(schema, count));
    found.differ += Number(rows[0]?.differ ?? 0);
    found.differences.push(...rows.map(({ table, id, live, replayed }) => ({ table, id, live, replayed })));
  }
  return found;
};

/** A query that counts the rows of the tables in `schema`, and returns the rows that the table of counts should have. */
export const recount = (schema: string, { of, keys, where = 'true' }: CountTable): string => {
  const by = ['merchant_id', 'days.day', ...keys].join(', ');
  return `select ${by}, count(*)::int as n from ${schema}.${of}
    cross join lateral (values ((created_at at time zone 'UTC')::date), ('-infinity')) as days (day)
    where ${where} group by ${by}`;
};

// A count of zero is the same as no count.
const comparison = (schema: string, count: CountTable): string => {
  const key = ['merchant_id', 'day', ...count.keys].join(', ');
  const row = (of: string) => `case when ${of}.n is not null then jsonb_build_object('n', ${of}.n) end`;
  return `select '${schema}.${count.name}' as table, concat_ws(' ', ${key}) as id,
      ${row('live')} as live, ${row('recounted')} as replayed, count(*) over () as differ
    from (select * from ${schema}.${count.name} where n <> 0) as live
      full join (${recount(schema, count)}) as recounted using (${key})
    where live.n is distinct from recounted.n order by ${key} limit ${MAX_DIFFERENCES}`;
};
