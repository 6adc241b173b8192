import { invalidRequest } from '@cpg/core';
import { createHash } from 'node:crypto';
import type { Queryable } from '@cpg/postgres';
import type pg from 'pg';
import { decodeCursor, encodeCursor, type Place } from './cursor.ts';
import { isCounted } from './counted-tables.ts';
import type { PageQuery } from './page-query.ts';
import { pageStatement, resourcesStatement, type Statement } from './page-statement.ts';

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
  const { rows } = await run<SelectedRow<Row>>(db, pageStatement(query, startOf(query)));
  const found = rows.filter((row) => row.id !== null);
  return pageOf(query, rows[0]?.total ?? 0, found, ({ id, created_at_us: createdAtUs }) => ({ id, createdAtUs }));
};

/** The same for a table of resources. */
export const selectResources = async <Resource>(
  db: Queryable,
  query: Omit<PageQuery, 'columns'>,
): Promise<Page<Resource>> => {
  const { counts, table, list } = query;
  const counted = counts && (await isCounted(db, table));
  const search = { ...query, columns: [], counts: counted ? counts : undefined };
  const { rows } = await run<SelectedResource>(db, resourcesStatement(search, startOf(search)));
  const { total } = rows[0]!;
  const items = rows.slice(0, list.limit).flatMap(({ item }) => item ?? []);
  const last = rows.length > list.limit ? rows[list.limit - 1]! : null;
  // `pg` keeps them until the query is collected, which made the collection of short-lived objects three times as long.
  rows.length = 0;
  return {
    items: items.map((item) => JSON.parse(item) as Resource),
    ...sizesOf(query, total, items.length),
    ...(last && { next_cursor: encodeCursor(search, { createdAtUs: last.created_at_us!, id: last.id! }) }),
  };
};

const run = <Row extends pg.QueryResultRow>(db: Queryable, { text, values, hasOnePlan }: Statement) =>
  db.query<Row>({ ...(hasOnePlan && { name: nameOf(text) }), text, values });

/** The place after which the page starts; undefined without a cursor. Throws `invalid_request` for a cursor of another
 *  list, and for one with a page number. */
export const startOf = (query: PageQuery): Place | undefined => {
  const { cursor, page } = query.list;
  if (cursor === undefined) return undefined;
  const place = decodeCursor(query, cursor);
  if (page > 1) throw invalidRequest([{ path: 'page', message: 'cannot be used with `cursor`' }]);
  return place;
};

type SelectedRow<Row> = Row & { readonly total: number; readonly created_at_us: string };

/** An item of a page. An empty page has one row without an item. */
interface SelectedResource {
  readonly total: number;
  readonly item: string | null;
  readonly id: string | null;
  readonly created_at_us: string | null;
}

/** The page of the rows that were found for it, and maybe one more, which shows that there is a next page. */
export const pageOf = <Row>(
  query: PageQuery,
  total: number,
  found: readonly Row[],
  placeOf: (row: Row) => Place,
): Page<Row> => {
  const items = found.slice(0, query.list.limit);
  return {
    items,
    ...sizesOf(query, total, items.length),
    ...(found.length > items.length && { next_cursor: encodeCursor(query, placeOf(items.at(-1)!)) }),
  };
};

const sizesOf = ({ list: { limit, page } }: Pick<PageQuery, 'list'>, total: number, count: number) => ({
  limit,
  count,
  total,
  page,
  totalPages: Math.ceil(total / limit),
});

/** By text. There are few, because a text has no values of requests. */
const names = new Map<string, string>();

/** Names a statement, so that PostgreSQL plans it once per connection. */
const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known) return known;
  const name = createHash('sha256').update(text).digest('base64url');
  names.set(text, name);
  return name;
};

export const mapPage = <A, B>(page: Page<A>, map: (item: A) => B): Page<B> => ({
  ...page,
  items: page.items.map(map),
});
