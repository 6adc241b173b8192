import {
  type Bind,
  countBetween,
  type Counted,
  type CountTable,
  findMinutes,
  keysOf,
  minuteOf,
  ofEachKey,
  startOf,
  weeksOf,
} from './counts.ts';
import type { Place } from './cursor.ts';
import type { PageQuery } from './page-query.ts';

export interface Statement {
  readonly text: string;
  readonly values: unknown[];
  /** Whether one plan is right for all values: each part reads few rows by the one index that has all its columns. */
  readonly hasOnePlan: boolean;
}

/** Up to here a page is found by reading the rows before it, which is cheaper than by counts. */
const MAX_SKIPPED = 200;
/** A merge reads up to so many rows for each value that it merges. */
const MAX_MERGED = 100;

/** Selects a page, one row of the next page, and the total. Counts find totals and distant pages.
 *  A filter without counts matches few rows, so all of them are found first. */
export const pageStatement = (query: PageQuery, after?: Place): Statement =>
  statementOf(query, after, [...query.columns], (search) =>
    [
      `select ${TOTAL} as total, ${createdAtUs('page')} as created_at_us, page.* from bounds left join page on true`,
      `order by ${search.order(query.list.sort, 'page.')}`,
    ].join('\n'),
  );

/** Selects a row for each item, and one more if there is a next page. Each row has the total.
 *  Each row of the page has the JSON of its item. The last of these also has its place. */
export const resourcesStatement = (query: PageQuery, after?: Place): Statement =>
  statementOf(query, after, [], (search) => {
    const { table, list } = query;
    const limit = search.bind(list.limit);
    return `, numbered as (select *, row_number() over (order by ${search.order(list.sort)}) as n from page)
select ${TOTAL} as total, case when n <= ${limit} then item.resource::text end as item,
  case when n = ${limit} then id end as id, case when n = ${limit} then ${createdAtUs('numbered')} end as created_at_us
from bounds left join numbered on true left join lateral (
  select resource from ${table} as whole where ${search.located} offset 0) as item on true
order by n`;
  });

const TOTAL = 'greatest(upper - lower, 0)::int';

const createdAtUs = (row: string): string => `(extract(epoch from ${row}.created_at) * 1000000)::bigint::text`;

const statementOf = (
  query: PageQuery,
  after: Place | undefined,
  columns: readonly string[],
  selection: (search: Search) => string,
): Statement => {
  const values: unknown[] = [];
  const search = searchOf(query, columns, after, (value) => `$${values.push(value)}`);
  return {
    text: `with ${search.few ? `few as materialized (${search.few}),\n` : ''}${search.counted ? `${weeksOf(search.counted)},\n` : ''}bounds as materialized (${bounds(search)}),
${search.distant ? distantPage(search, search.distant) : nearPage(search)}
${selection(search)}`,
    values,
    hasOnePlan: query.counts !== undefined,
  };
};

/** The parts of the statement that depend on the query. */
interface Search extends Required<Pick<PageQuery, 'table' | 'list' | 'ranges' | 'sortBy'>> {
  readonly after: Place | undefined;
  /** The columns that are selected to find the page. */
  readonly selected: readonly string[];
  readonly bind: Bind;
  /** The condition on the columns that must have a value. */
  readonly matching: string;
  /** Null when the counts do not know about all filters. */
  readonly counted: Counted | null;
  /** The same as `counted` if the page merges the rows of several keys. */
  readonly merged: Counted | null;
  /** The same as `counted` if the counts find the page. */
  readonly distant: Counted | null;
  /** Finds the row of an item: by its place in the table if there are counts, otherwise by its id. */
  readonly located: string;
  /** Selects all matching rows if the filters match few. Then `table` is this selection. */
  readonly few: string | null;
  readonly order: (direction: 'asc' | 'desc', prefix?: string) => string;
}

const searchOf = (query: PageQuery, columns: readonly string[], after: Place | undefined, bind: Bind): Search => {
  const { table, list, ranges = [], owner, only = 'true', filters, sortBy = ['created_at', 'id'] } = query;
  const active = [owner, ...filters].filter(([, value]) => value !== undefined);
  const equal = new Map(active.map(([column, value]) => [column, bind(value)]));
  const matching = [only, ...conditionsOf(equal)].join(' and ');
  const counted = countedOf(query, equal, matching);
  const merged = counted && counted.open.length > 0 ? counted : null;
  const skipped = (list.page - 1) * list.limit;
  const distant = merged ? skipped + list.limit > MAX_MERGED && !after : skipped > MAX_SKIPPED;
  const byCtid = query.counts !== undefined;
  const selected = ['id', 'created_at', ...(byCtid ? ['ctid as place'] : []), ...columns];
  // With the dates in the same condition, PostgreSQL might choose the index by date.
  const few = query.counts && !counted ? `select ${selected.join(', ')} from ${table} where ${matching}` : null;
  return {
    list,
    ranges,
    sortBy,
    after,
    bind,
    counted,
    merged,
    distant: distant ? counted : null,
    located: byCtid ? 'whole.ctid = numbered.place' : 'whole.id = numbered.id',
    few,
    ...(few ? { table: 'few', matching: 'true', selected: ['*'] } : { table, matching, selected }),
    order: (direction, prefix = '') => sortBy.map((column) => `${prefix}${column} ${direction}`).join(', '),
  };
};

/** The columns that must have a value, with its placeholder. */
type Equal = ReadonlyMap<string, string>;

const conditionsOf = (equal: Equal): string[] => [...equal].map(([column, value]) => `${column} = ${value}`);

const countedOf = ({ counts, table, owner, filters }: PageQuery, equal: Equal, matching: string) => {
  if (!counts) return null;
  const { status, ...others } = Object.fromEntries(equal);
  const known = new Set([owner[0], ...counts.keys]);
  if (!Object.keys(others).every((column) => known.has(column))) return null;
  const statusValue = filters.find(([column]) => column === 'status')?.[1];
  const measure = status === undefined ? 'count' : counts.statuses.find((name) => name === statusValue);
  if (measure === undefined) return null;
  const where = conditionsOf(new Map(Object.entries(others))).join(' and ');
  const summed = equal.has('currency') ? counts.name : counts.totals;
  return { ...counts, summed, where, measure, rows: table, matching, open: openOf(counts, equal) };
};

/** `lower` and `upper` are the numbers of matching rows before the range of dates starts and before it ends. */
const bounds = (search: Search): string => {
  const { counted, list, table, matching, bind } = search;
  if (!counted) return `select 0 as lower, count(*) as upper from ${table} where ${matching}${datesOf(search)}`;
  return countBetween(counted, { from: list.from_date, to: list.to_date }, bind);
};

const datesOf = ({ list, ranges, bind }: Search): string => {
  const conditions = [['created_at >=', list.from_date], ['created_at <=', list.to_date], ...ranges] as const;
  return conditions
    .map(([condition, value]) => (value === undefined ? '' : ` and ${condition} ${bind(value)}`))
    .join('');
};

const PLACE_VALUES: Record<string, (place: Place, bind: Bind) => string> = {
  id: ({ id }, bind) => bind(id),
  // The whole precision of PostgreSQL, which a Date does not have.
  created_at: ({ createdAtUs }, bind) =>
    `timestamptz 'epoch' + ${bind(createdAtUs)}::bigint * interval '1 microsecond'`,
};

const placeOf = ({ after, list, sortBy, bind }: Search): string =>
  after
    ? ` and (${sortBy.join(', ')}) ${list.sort === 'asc' ? '>' : '<'} (${sortBy.map((column) => PLACE_VALUES[column]!(after, bind)).join(', ')})`
    : '';

const nearPage = (search: Search): string => {
  const { list, bind, order, merged } = search;
  const range = `${datesOf(search)}${placeOf(search)}`;
  const [offset, limit] = [bind((list.page - 1) * list.limit), bind(list.limit + 1)];
  const read = `${offset}::int + ${limit}::int`;
  const ids = firstIds(search, {
    range: merged ? `${range}${untilLast(search, merged, { range, read })}` : range,
    direction: list.sort,
    limit: read,
  });
  const keys = merged ? `${keysOf(merged, minutesOf(search))},\n` : '';
  return `${keys}page as materialized (select * from (${ids}) as ids order by ${order(list.sort)} limit ${limit} offset ${offset})`;
};

/** The minutes of the first and the last instant of the list. */
const minutesOf = ({ list: { from_date: from, to_date: to }, bind }: Search) => {
  const minute = (at: Date | undefined) => at && `${bind(minuteOf(at))}::bigint`;
  return { from: minute(from), to: minute(to) };
};

/** Ends the range of a merge soon after the page, so that few rows of each key are read.
 *  It first reads about four times the share that each key has of the page.
 *  The last row of the page is not after the row with its number among these.
 *  If these rows are too few, the range has no end. */
const untilLast = (
  { list: { sort }, order }: Search,
  merged: Counted,
  { range, read }: { range: string; read: string },
): string => {
  const some = ofEachKey(merged, {
    select: 'created_at',
    range: `${range} order by ${order(sort)} limit (select 4 * (${read}) / (count(*) + 1) + 1 from keys)`,
  });
  const last = `select created_at from (${some}) as some_rows order by created_at ${sort} limit 1 offset ${read} - 1`;
  const [until, end] = sort === 'asc' ? ['<=', 'infinity'] : ['>=', '-infinity'];
  return ` and created_at ${until} coalesce((${last}), '${end}')`;
};

/** `position` has the numbers of matching rows before the page, oldest first, and before its end. */
const distantPage = (search: Search, counted: Counted): string => {
  const { list, bind, order, merged } = search;
  const [offset, limit] = [bind((list.page - 1) * list.limit), bind(list.limit + 1)].map((value) => `${value}::int`);
  const position =
    list.sort === 'asc'
      ? `lower + ${offset} as first, least(lower + ${offset} + ${limit}, upper) as last`
      : `greatest(upper - ${offset} - ${limit}, lower) as first, upper - ${offset} as last`;
  const ids = firstIds(search, {
    range: ` and created_at >= ${startOf('(select start from found)')}${merged ? ` and created_at < ${startOf('(select finish from found)')}` : ''}`,
    direction: 'asc',
    limit: '(select greatest(last - before, 0)::int from position, found)',
  });
  return `position as materialized (select ${position} from bounds),
${findMinutes(counted, ['(select first from position)', ...(merged ? ['(select last - 1 from position)'] : [])])},
found as materialized (select min(start) as start, min(before) as before, max(start) + 1 as finish from minutes),
${merged ? `${keysOf(merged, { from: '(select start from found)', to: '(select finish from found)' })},\n` : ''}page as materialized (select * from (${ids}) as ids order by ${order('asc')}
  limit (select greatest(last - first, 0)::int from position) offset (select (first - before)::int from position, found))`;
};

/** The ids of the first rows in a range. */
const firstIds = (
  { table, selected, matching, merged, order }: Search,
  { range, direction, limit }: { range: string; direction: 'asc' | 'desc'; limit: string },
): string => {
  const select = selected.join(', ');
  const first = `order by ${order(direction)} limit`;
  if (!merged) return `select ${select} from ${table} where ${matching}${range} ${first} ${limit}`;
  return ofEachKey(merged, { select, range: `${range} ${first} ${limit}` });
};

const openOf = ({ statuses, keys }: CountTable, equal: Equal): string[] => {
  const indexed = [...(statuses.length > 0 ? ['status'] : []), ...keys];
  const open = indexed.filter((column) => !equal.has(column));
  return open.length === indexed.length ? [] : open;
};
