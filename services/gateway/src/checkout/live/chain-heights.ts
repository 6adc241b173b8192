import type { Queryable } from '@cpg/platform/postgres';

/** How far each watched network was read. Confirmations grow with it. */
export const chainHeights = async (db: Queryable): Promise<string> => {
  const { rows } = await db.query<{ heights: string | null }>({
    name: 'chain-heights',
    text: `select string_agg(network || ' ' || coalesce(height::text, ''), ',' order by network) as heights
           from payments.api_chains`,
  });
  return rows[0]?.heights ?? '';
};
