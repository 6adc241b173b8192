import type { CountTable } from './projection.ts';

export interface SpanCounts {
  /** The table of the counts, and the one whose rows they count. */
  readonly name: string;
  readonly of: string;
  /** The columns besides the merchant and the span by which rows are counted. */
  readonly keys: readonly string[];
  /** The values of `status`, each of which has a column. */
  readonly statuses?: readonly string[];
  /** The condition on the rows that are counted. */
  readonly where?: string;
}

/** Exact row counts by merchant and time span. Triggers of the migrations keep them. */
export const spanCounts = ({ name, of, keys, statuses = [], where = 'true' }: SpanCounts): CountTable => {
  const primaryKey = ['merchant_id', 'span', 'start', ...keys];
  const byStatus = statuses.map((status) => `count(*) filter (where status = '${status}') as ${status}`);
  return {
    name,
    primaryKey,
    recount: (schema) => `
      select merchant_id, span, minute - minute % span as start, ${[...keys, 'count(*) as count', ...byStatus].join(', ')}
      from (select *, floor(extract(epoch from created_at) / 60)::bigint as minute from ${schema}.${of}) as rows
      cross join (values (1), (12), (120), (1680), (10080)) as spans (span)
      where ${where} group by ${primaryKey.map((_, index) => index + 1).join(', ')}`,
  };
};
