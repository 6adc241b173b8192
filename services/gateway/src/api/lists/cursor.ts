import { createHash } from 'node:crypto';
import { invalidRequest } from '@cpg/contracts';
import type { ListQuery } from './list-query.ts';

/** A column and the value it must have, or several of which it must have one. An undefined value disables the filter.
 *  `condition` makes another condition than equality. */
export type Filter = readonly [column: string, value: unknown, condition?: Condition];

/** Makes the condition in SQL from the placeholder of the value and that of the owner of the list. */
type Condition = (value: string, owner: string) => string;

/** Which page of which list. */
export interface PageQuery {
  readonly table: string;
  /** The column of the merchant or webhook whose items are listed. */
  readonly owner: readonly [column: string, id: string];
  readonly filters: readonly Filter[];
  readonly list: ListQuery;
}

/** A place in a list: right after this item. */
export interface Place {
  /** When the item was created, in microseconds since 1970. */
  readonly createdAtUs: string;
  readonly id: string;
}

/** The cursor of the page after `place`. It is valid for lists with the same filters and sort order, with any limit. */
export const encodeCursor = (query: PageQuery, place: Place): string =>
  Buffer.from(`${place.createdAtUs} ${place.id} ${digestOf(query, place)}`).toString('base64url');

// The digest has no key, so a client can make a cursor with any text in the place of an id.
const PLACE = { createdAtUs: /^\d{1,17}$/, id: /^[a-z]+_\w+$/ };

/** The place in a cursor. Throws `invalid_request` for other text, and for a cursor of another list. */
export const decodeCursor = (query: PageQuery, cursor: string): Place => {
  const [createdAtUs = '', id = '', digest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const place = { createdAtUs, id };
  const isPlace = PLACE.createdAtUs.test(createdAtUs) && PLACE.id.test(id);
  // The decoder skips characters that are no base64url: only the text as it was made is valid.
  if (isPlace && digest === digestOf(query, place) && encodeCursor(query, place) === cursor) return place;
  throw invalidRequest([
    { path: 'cursor', message: 'must be the `next_cursor` of a response with the same filters and sort order' },
  ]);
};

const digestOf = ({ table, owner, filters, list }: PageQuery, { createdAtUs, id }: Place): string => {
  // The column and the value of a filter determine its condition.
  const values = filters.map(([column, value]) => [column, value]);
  const parts = [table, owner, values, list.from_date, list.to_date, list.sort, createdAtUs, id];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
};
