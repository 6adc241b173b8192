import type { Queryable } from '@cpg/postgres';
import type { ListQuery } from '../list-query.ts';

/** What rows must match: a condition up to its value (`status =`), and the value; a value of undefined asks for nothing. */
export type Filter = readonly [condition: string, value: unknown];

export interface PageOf<T> {
  readonly items: T[];
  readonly limit: number;
  readonly count: number;
  readonly total: number;
  readonly page: number;
  readonly totalPages: number;
}

export interface Listing {
  readonly table: string;
  readonly columns: string;
  readonly where: readonly Filter[];
  readonly list: ListQuery;
  /** What says which row was created first. */
  readonly by?: readonly string[];
}

/** One page of a table by creation time, and how many rows match in all, as of one instant. `table`, `columns`, conditions and `by` are
 *  parts of the statement: never what a request brought. */
export const selectPage = async <Row extends { id: string }>(
  db: Queryable,
  { table, columns, where, list, by = ['created_at', 'id'] }: Listing,
): Promise<PageOf<Row>> => {
  const filters: Filter[] = [...where, ['created_at >=', list.from_date], ['created_at <=', list.to_date]];
  const asked = filters.filter(([, value]) => value !== undefined);
  const matching = `${table} where ${asked.map(([condition], index) => `${condition} $${index + 1}`).join(' and ')}`;
  const order = by.map((column) => `${column} ${list.sort}`).join(', ');
  const { rows } = await db.query<Row & { total: number }>(
    `select total, item.*
       from (select count(*)::int as total from ${matching}) counted
       left join lateral (
         select id, created_at, ${columns} from ${matching} order by ${order} limit $${asked.length + 1} offset $${asked.length + 2}
       ) item on true
      order by ${order}`,
    [...asked.map(([, value]) => value), list.limit, (list.page - 1) * list.limit],
  );
  const total = rows[0]?.total ?? 0;
  const items = rows.filter((row) => row.id !== null);
  return {
    items,
    limit: list.limit,
    count: items.length,
    total,
    page: list.page,
    totalPages: Math.ceil(total / list.limit),
  };
};

export const mapPage = <A, B>(page: PageOf<A>, as: (item: A) => B): PageOf<B> => ({
  ...page,
  items: page.items.map(as),
});
