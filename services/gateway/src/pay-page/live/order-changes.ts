import type { Queryable } from '@cpg/postgres';

/** The orders among `known` whose row has another revision than this one. It reads their primary keys: an index on the
 *  last change, or a notification by the projection, would cost each order more than this costs a gateway. */
export const changedOrders = async (
  db: Queryable,
  known: ReadonlyMap<string, number>,
): Promise<ReadonlySet<string>> => {
  const { rows } = await db.query<{ id: string }>({
    name: 'changed-orders',
    text: `select o.id from unnest($1::text[], $2::bigint[]) as known (id, revision)
           join orders.orders as o on o.id = known.id where o.revision <> known.revision`,
    values: [[...known.keys()], [...known.values()]],
  });
  return new Set(rows.map(({ id }) => id));
};

/** How far each watched network was read. Confirmations grow with it. */
export const chainHeights = async (db: Queryable): Promise<string> => {
  const { rows } = await db.query<{ heights: string | null }>({
    name: 'chain-heights',
    text: `select string_agg(network || ' ' || coalesce(height::text, ''), ',' order by network) as heights
           from payments.chain_cursors`,
  });
  return rows[0]?.heights ?? '';
};
