import { createHash } from 'node:crypto';
import { invalidRequest } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { decodeCursor, encodeCursor, type Filter, type PageQuery, type Place } from './cursor.ts';
import type { ListQuery, TimeRanges } from './list-query.ts';

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

/** Selects one page and the total number of matching rows, both in one statement and so from one snapshot. A second
 *  statement replaces the first one if more than `MAX_FEW` rows match. */
export const selectPage = async <Row extends { id: string }>(
  db: Queryable,
  selection: Selection,
): Promise<Page<Row>> => {
  const after = startOf(selection);
  const select = async (mode: Mode) => {
    const { text, values } = pageStatement(selection, mode, after);
    return (await db.query<SelectedRow<Row>>({ name: nameOf(text), text, values })).rows;
  };
  let rows = await select(modeOf(selection));
  if (rows[0]!.total === null) rows = await select('ordered');
  const found = rows.filter((row) => row.id !== null);
  return pageOf(selection, rows[0]!.total!, found, ({ id, created_at_us: createdAtUs }) => ({ id, createdAtUs }));
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

type SelectedRow<Row> = Row & { readonly total: number | null; readonly created_at_us: string };

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

/** The value of a filter: the only one, or a list. */
export const oneOrSeveral = <T>(values: readonly T[] | undefined): T | readonly T[] | undefined =>
  values?.length === 1 ? values[0] : values;

/** The filters of a range of times in the column `<name>_at`. */
export const timeFilters = <N extends string>(name: N, ranges: TimeRanges<N>): Filter[] => {
  const { [`${name}_from`]: from, [`${name}_to`]: to } = ranges as Record<string, Date | undefined>;
  return [
    [`${name}_from`, from, (place) => `${name}_at >= ${place}::timestamptz`],
    [`${name}_to`, to, (place) => `${name}_at <= ${place}::timestamptz`],
  ];
};

/** The list without items that were created after one of `ends`: what happens to an item happens after its creation. So
 *  the first page begins where items of a past range are, and skips no newer ones. */
export const createdUntil = <L extends ListQuery>(list: L, ends: readonly (Date | undefined)[]): L => {
  const times = [list.to_date, ...ends].flatMap((end) => end?.getTime() ?? []);
  return times.length === 0 ? list : { ...list, to_date: new Date(Math.min(...times)) };
};

/** How a text may be stored: as it is given, and as the service would write it. */
export const spellings = (given: string, canonical: string): readonly string[] => [...new Set([given, canonical])];

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

/** A table of exact counts, which triggers of the service that owns the rows keep (ADR 16). It has a row for each key
 *  and day in UTC, with the number `n`. The row of the day `-infinity` counts all days. */
interface CountTable {
  readonly name: string;
  /** The columns of its key, besides the merchant and the day. */
  readonly keys: readonly string[];
}

/** How to select a page of a table. Everything but values is inserted into the statement as it is, so never pass
 *  request input. */
export interface Selection extends PageQuery {
  /** Without `id` and `created_at`, which are always selected. */
  readonly columns: readonly string[];
  /** A condition that all items of the list meet. */
  readonly only?: string;
  /** The counts of the rows, if there are any. */
  readonly counts?: CountTable;
  /** Sets of filter columns, each with an index on the owner, these columns, `created_at` and `id`. Indexes for the
   *  columns of `counts` exist anyway. */
  readonly ordered?: readonly (readonly string[])[];
  /** A filter names a few ids, so the rows are read by id. */
  readonly isById?: boolean;
  /** A table with fewer columns, in which rows are found and sorted; by default `table`. Its `id` is that of the row in
   *  `table`. */
  readonly source?: string;
}

/** How to find the rows of a page. `counted`: the total is a sum of counts, and an index has the rows in their order.
 *  `ordered`: they are counted in that index. `few`: all of them are read and sorted, if they are `MAX_FEW` at most. */
type Mode = 'counted' | 'ordered' | 'few';

/** More rows than these are read in the order of the list, and counted apart. */
export const MAX_FEW = 10_000;

const activeOf = ({ owner, filters }: PageQuery): Filter[] =>
  [owner, ...filters].filter(([, value]) => value !== undefined);

const modeOf = (selection: Selection): Mode => {
  const { counts, ordered = [] } = selection;
  const filters = activeOf(selection).slice(1);
  const areAmong = (columns: readonly string[]) =>
    filters.every(([column, , condition]) => !condition && columns.includes(column));
  if (counts && areAmong(counts.keys)) return 'counted';
  return ordered.some((columns) => columns.length === filters.length && areAmong(columns)) ? 'ordered' : 'few';
};

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Adds a value to those of a statement, and returns its placeholder. */
type Bind = (value: unknown) => string;

interface Parts {
  /** The condition on the dates of the list, after others. */
  readonly range: string;
  readonly time: (at: Date) => string;
  /** Sums the matching counts of these days. */
  readonly days: (condition: string) => string;
  /** Counts the matching rows in this range. */
  readonly rows: (range: string) => string;
}

/** Selects a page, one row of the next page, and the total, in one snapshot. An empty page has one row, with the
 *  total. A total of null stands for more than `MAX_FEW` rows. */
const pageStatement = (selection: Selection, mode: Mode, after?: Place): Statement => {
  const { table, source = table, columns, only = 'true', list, counts } = selection;
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  // A generic plan uses a partial index only if the statement itself has its condition.
  const isWritten = (value: unknown) => typeof value === 'boolean';
  const active = activeOf(selection).map((filter) => ({ filter, place: isWritten(filter[1]) ? '' : bind(filter[1]) }));
  const conditions = active.map(({ filter, place }) => conditionOf(filter, place, active[0]!.place));
  // The concatenation keeps PostgreSQL from an index on the owner: it would search the ids among all rows of the owner.
  if (selection.isById) conditions[0] = `${selection.owner[0]} || '' = ${active[0]!.place}`;
  const equal = conditions.join(' and ');
  const matching = `${only} and ${equal}`;
  const time = (at: Date) => `${bind(at)}::timestamptz`;
  const { from_date: from, to_date: to } = list;
  const range = `${from ? ` and created_at >= ${time(from)}` : ''}${to ? ` and created_at <= ${time(to)}` : ''}`;
  const start = after ? placeOf(list.sort, after, bind) : '';
  const order = (of: string) => `${of}created_at ${list.sort}, ${of}id ${list.sort}`;
  const [limit, offset] = [bind(list.limit + 1), bind((list.page - 1) * list.limit)];
  const rows = (of: string) => `(select count(*) from ${source} where ${matching}${of})`;
  const days = (of: string) => `(select coalesce(sum(n), 0) from ${counts?.name} where ${equal} and ${of})`;
  const where = (of: readonly string[]) => `${source} where ${[only, ...of].join(' and ')}${range}`;
  const isEquality = (index: number) => active[index]!.filter[2] === undefined;

  // Reads rows in the order of the list, by an index on the columns of the equalities in `of`. `offset 0` keeps
  // PostgreSQL from finding rows by the other conditions: it would read and sort all matches.
  const inOrder = (of: readonly string[]): string => {
    const equalities = of.filter((_, index) => isEquality(index));
    if (equalities.length === of.length) return `select id, created_at from ${where(of)}${start}`;
    const others = of.filter((_, index) => !isEquality(index));
    return `select id, created_at from (
    select * from ${where(equalities)}${start} order by ${order('')} offset 0) as listed where ${others.join(' and ')}`;
  };

  // An index has the rows of one value in the order of the list. Those of several values are merged.
  const merged = (): string => {
    const several = active.filter(({ filter: [, value] }, index) => Array.isArray(value) && isEquality(index));
    if (several.length === 0) return inOrder(conditions);
    const valuesOf = several.map(({ place }, n) => `unnest(${place}::text[]) as any_${n} (value)`);
    const ofOne = active.map((each, index) =>
      several.includes(each) ? `${each.filter[0]} = any_${several.indexOf(each)}.value` : conditions[index]!,
    );
    return `select one.id, one.created_at from ${valuesOf.join(' cross join ')} cross join lateral (
    ${inOrder(ofOne)} order by ${order('')} limit ${limit}::bigint + ${offset}::bigint) as one`;
  };
  const [total, page] = {
    counted: () => [countedTotal(list, { time, days, rows, range }), merged()],
    ordered: () => [rows(range), merged()],
    few: () => [
      `select case when count(*) <= ${MAX_FEW} then count(*) end from few`,
      `select id, created_at from few where (select total from total) is not null${start}`,
    ],
  }[mode]() as [string, string];
  const few = `few as materialized (select id, created_at from ${where(conditions)} limit ${MAX_FEW + 1}),`;
  const text = `with ${mode === 'few' ? few : ''}
total as materialized (select (${total})::int as total),
page as materialized (
  ${page}
  order by ${order('')} limit ${limit} offset ${offset})
select total, page.id, (extract(epoch from page.created_at) * 1000000)::bigint::text as created_at_us, page.created_at, item.*
from total left join page on true
left join lateral (select ${columns.join(', ')} from ${table} where id = page.id offset 0) as item on true
order by ${order('page.')}`;
  return { text, values };
};

const conditionOf = ([column, value, condition]: Filter, place: string, owner: string): string => {
  if (condition) return condition(place, owner);
  if (typeof value === 'boolean') return value ? column : `not ${column}`;
  return `${column} = ${Array.isArray(value) ? `any(${place})` : place}`;
};

const DAY_MS = 86_400_000;

/** The number of matching rows: the counts of whole days, and the rows of the rest, which an index counts. */
const countedTotal = ({ from_date: from, to_date: to }: ListQuery, { time, days, rows, range }: Parts): string => {
  if (!from && !to) return days(`day = '-infinity'`);
  const midnight = (round: (days: number) => number, at: Date) => new Date(round(at.getTime() / DAY_MS) * DAY_MS);
  const [firstDay, endDay] = [from && midnight(Math.ceil, from), to && midnight(Math.floor, to)];
  if (firstDay && endDay && firstDay > endDay) return rows(range);
  const dayOf = (at: Date) => `(${time(at)} at time zone 'UTC')::date`;
  const conditions = [`day > '-infinity'`, firstDay && `day >= ${dayOf(firstDay)}`, endDay && `day < ${dayOf(endDay)}`];
  const parts = [
    days(conditions.filter(Boolean).join(' and ')),
    from && rows(` and created_at >= ${time(from)} and created_at < ${time(firstDay!)}`),
    to && rows(` and created_at >= ${time(endDay!)} and created_at <= ${time(to)}`),
  ];
  return parts.filter(Boolean).join(' + ');
};

// The whole precision of PostgreSQL, which a Date does not have.
const placeOf = (sort: 'asc' | 'desc', { createdAtUs, id }: Place, bind: Bind): string =>
  ` and (created_at, id) ${sort === 'asc' ? '>' : '<'} (timestamptz 'epoch' + ${bind(createdAtUs)}::bigint * interval '1 microsecond', ${bind(id)})`;
