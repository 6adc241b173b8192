import { invalidRequest } from '@cpg/contracts';
import { createHash } from 'node:crypto';
import type { Queryable } from '@cpg/platform/postgres';
import { decodeCursor, encodeCursor, type Place } from './cursor.ts';
import type { PageQuery } from './page-query.ts';
import { pageStatement, type Selection } from './page-statement.ts';

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

/** One page of a table and the total number of matching rows, from one snapshot. */
export const selectPage = async <Row extends { id: string }>(
  db: Queryable,
  selection: Selection,
): Promise<Page<Row>> => {
  const { text, values } = pageStatement(selection, startOf(selection));
  const { rows } = await db.query<SelectedRow<Row>>({ name: nameOf(text), text, values });
  const found = rows.filter((row) => row.id !== null);
  return pageOf(selection, rows[0]!.total, found, ({ id, created_at_us: createdAtUs }) => ({ id, createdAtUs }));
};

/** The same for a table of resources. */
export const selectResources = async <Resource>(
  db: Queryable,
  selection: Omit<Selection, 'columns'>,
): Promise<Page<Resource>> => {
  const page = await selectPage<{ id: string; item: string }>(db, {
    ...selection,
    columns: ['resource::text as item'],
  });
  return { ...page, items: page.items.map(({ item }) => JSON.parse(item) as Resource) };
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

type SelectedRow<Row> = Row & { readonly total: number; readonly created_at_us: string };

/** The page of the rows that were found for it, and maybe one more, which shows that there is a next page. */
export const pageOf = <Row>(
  query: PageQuery,
  total: number,
  found: readonly Row[],
  placeOf: (row: Row) => Place,
): Page<Row> => {
  const { limit, page } = query.list;
  const items = found.slice(0, limit);
  return {
    items,
    limit,
    count: items.length,
    total,
    page,
    totalPages: Math.ceil(total / limit),
    ...(found.length > limit && { next_cursor: encodeCursor(query, placeOf(items.at(-1)!)) }),
  };
};

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
