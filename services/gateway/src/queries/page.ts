import { invalidRequest } from '@cpg/core';
import { createHash } from 'node:crypto';
import type { Queryable } from '@cpg/postgres';
import { decodeCursor, encodeCursor, type Place } from './cursor.ts';
import { isCounted } from './counted-tables.ts';
import type { PageQuery } from './page-query.ts';
import { pageStatement } from './page-statement.ts';

export interface Page<T> {
  readonly items: T[];
  readonly limit: number;
  readonly count: number;
  readonly total: number;
  readonly page: number;
  readonly totalPages: number;
  /** Absent on the last page. */
  readonly next_cursor?: string;
}

/** One page of a table and the total number of matching rows, from one snapshot. Everything but values is inserted into
 *  the statement as it is, so never pass request input. */
export const selectPage = async <Row extends { id: string }>(db: Queryable, query: PageQuery): Promise<Page<Row>> => {
  const { table, counts } = query;
  const after = startOf(query);
  const counted = counts && (await isCounted(db, table));
  const { text, values, hasOnePlan } = pageStatement(counted ? query : { ...query, counts: undefined }, after);
  const { rows } = await db.query<SelectedRow<Row>>({ ...(hasOnePlan && { name: nameOf(text) }), text, values });
  return pageOf(query, rows);
};

/** The place after which the page starts; undefined without a cursor. Throws `invalid_request` for a cursor of another
 *  list, and for one with a page number. */
export const startOf = (query: PageQuery): Place | undefined => {
  const { cursor, page } = query.list;
  if (cursor === undefined) return undefined;
  const place = decodeCursor(query, cursor);
  if (page > 1) throw invalidRequest([{ path: 'page', message: 'cannot be used with `cursor`' }]);
  return place;
};

export type SelectedRow<Row> = Row & { readonly total: number; readonly created_at_us: string };

/** The page of the rows, of which one more than the page has shows that there is a next page. */
export const pageOf = <Row extends { id: string }>(query: PageQuery, rows: SelectedRow<Row>[]): Page<Row> => {
  const { limit, page } = query.list;
  const total = rows[0]?.total ?? 0;
  const found = rows.filter((row) => row.id !== null);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return {
    items,
    limit,
    count: items.length,
    total,
    page,
    totalPages: Math.ceil(total / limit),
    ...(last &&
      found.length > limit && { next_cursor: encodeCursor(query, { createdAtUs: last.created_at_us, id: last.id }) }),
  };
};

/** Names a statement, so that PostgreSQL plans it once per connection. */
const nameOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

export const mapPage = <A, B>(page: Page<A>, map: (item: A) => B): Page<B> => ({
  ...page,
  items: page.items.map(map),
});
