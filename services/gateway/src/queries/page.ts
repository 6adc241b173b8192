import { createHash } from 'node:crypto';
import type { Queryable } from '@cpg/postgres';
import type { ListQuery } from '../list-query.ts';
import type { CountTable } from './counts.ts';
import { isCounted } from './counted-tables.ts';
import { pageStatement } from './page-statement.ts';

/** A column and the value it must have. An undefined value disables the filter. */
export type Filter = readonly [column: string, value: unknown];

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
  readonly columns: readonly string[];
  /** The column of the merchant or webhook whose items are listed. */
  readonly owner: readonly [column: string, id: string];
  /** A condition that all items of the list meet. */
  readonly only?: string;
  readonly filters: readonly Filter[];
  /** More conditions without their values, like `id >=`. An undefined value disables one. */
  readonly ranges?: readonly Filter[];
  readonly list: ListQuery;
  /** The counts of the rows, if there are any. */
  readonly counts?: CountTable | undefined;
  /** The columns to sort by. */
  readonly sortBy?: readonly string[];
}

/** One page of a table and the total number of matching rows, from one snapshot. Everything but values is inserted into
 *  the statement as it is, so never pass request input. */
export const selectPage = async <Row extends { id: string }>(db: Queryable, query: PageQuery): Promise<Page<Row>> => {
  const { table, list, counts } = query;
  const { text, values } = pageStatement(
    counts && (await isCounted(db, table)) ? query : { ...query, counts: undefined },
  );
  const { rows } = await db.query<Row & { total: number }>({ name: nameOf(text), text, values });
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

/** Names a statement, so that PostgreSQL plans it once per connection. */
const nameOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

export const mapPage = <A, B>(page: Page<A>, map: (item: A) => B): Page<B> => ({
  ...page,
  items: page.items.map(map),
});
