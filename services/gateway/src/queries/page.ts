import type { Queryable } from '@cpg/postgres';
import type { ListQuery } from '../list-query.ts';

/** A condition without its value (`status =`), and the value. An undefined value disables the filter. */
export type Filter = readonly [condition: string, value: unknown];

export interface Page<T> {
  readonly items: T[];
  readonly limit: number;
  readonly count: number;
  readonly total: number;
  readonly page: number;
  readonly totalPages: number;
}

export interface PageQuery {
  readonly table: string;
  readonly columns: string;
  readonly where: readonly Filter[];
  readonly list: ListQuery;
  /** The columns to sort by. */
  readonly sortBy?: readonly string[];
}

/** One page of a table and the total number of matching rows, from one snapshot. `table`, `columns`, the conditions and
 *  `sortBy` are inserted into the statement as they are: never pass request input. */
export const selectPage = async <Row extends { id: string }>(
  db: Queryable,
  { table, columns, where, list, sortBy = ['created_at', 'id'] }: PageQuery,
): Promise<Page<Row>> => {
  const filters: Filter[] = [...where, ['created_at >=', list.from_date], ['created_at <=', list.to_date]];
  const active = filters.filter(([, value]) => value !== undefined);
  const matching = `${table} where ${active.map(([condition], index) => `${condition} $${index + 1}`).join(' and ')}`;
  const order = sortBy.map((column) => `${column} ${list.sort}`).join(', ');
  const { rows } = await db.query<Row & { total: number }>(
    `select total, item.*
       from (select count(*)::int as total from ${matching}) counted
       left join lateral (
         select id, created_at, ${columns} from ${matching} order by ${order} limit $${active.length + 1} offset $${active.length + 2}
       ) item on true
      order by ${order}`,
    [...active.map(([, value]) => value), list.limit, (list.page - 1) * list.limit],
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

export const mapPage = <A, B>(page: Page<A>, map: (item: A) => B): Page<B> => ({
  ...page,
  items: page.items.map(map),
});
