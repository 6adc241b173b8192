import { type Bind, type Counted, countAll, countUpTo, findMinute, startOf, WEEK } from './counts.ts';
import type { Place } from './cursor.ts';
import type { PageQuery } from './page-query.ts';

export interface Statement {
  readonly text: string;
  readonly values: unknown[];
  /** Whether one plan is right for all values: each part reads few rows by the one index that has all its columns. */
  readonly hasOnePlan: boolean;
}

/** Up to here a page is found by reading the rows before it in an index, which is cheaper than by counts. */
const MAX_SKIPPED = 500;

/** Selects a page, one row of the next page, and the total. Counts find totals and distant pages.
 *  A filter without counts matches few rows, so all of them are found first. */
export const pageStatement = (query: PageQuery, after?: Place): Statement => {
  const values: unknown[] = [];
  const search = searchOf(query, after, (value) => `$${values.push(value)}`);
  const { list } = query;
  const isDistant = (list.page - 1) * list.limit > MAX_SKIPPED;
  return {
    text: `with ${search.few ? `few as materialized (${search.few}),\n` : ''}bounds as materialized (${bounds(search)}),
${isDistant && search.counted ? distantPage(search, search.counted) : nearPage(search)}
select greatest(upper - lower, 0)::int as total,
  (extract(epoch from page.created_at) * 1000000)::bigint::text as created_at_us, ${wholeRows(query)}
order by ${search.order(list.sort, 'page.')}`,
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
  /** The columns that must have a value, with its placeholder. */
  readonly equal: ReadonlyMap<string, string>;
  /** The condition on all of them. */
  readonly matching: string;
  /** Null when the counts do not know about all filters. */
  readonly counted: Counted | null;
  /** Selects all matching rows if the filters match few. Then `table` is this selection. */
  readonly few: string | null;
  readonly order: (direction: 'asc' | 'desc', prefix?: string) => string;
}

const searchOf = (query: PageQuery, after: Place | undefined, bind: Bind): Search => {
  const { table, list, ranges = [], owner, only = 'true', filters, sortBy = ['created_at', 'id'] } = query;
  const active = [owner, ...filters].filter(([, value]) => value !== undefined);
  const equal = new Map(active.map(([column, value]) => [column, bind(value)]));
  const matching = [only, ...conditionsOf(equal)].join(' and ');
  const counted = countedOf(query, equal, matching);
  const selected = ['id', 'created_at', ...(query.counts ? [] : query.columns)];
  // With the dates in the same condition, PostgreSQL might choose the index by date.
  const few = query.counts && !counted ? `select ${selected.join(', ')} from ${table} where ${matching}` : null;
  return {
    list,
    ranges,
    sortBy,
    after,
    bind,
    equal,
    selected,
    counted,
    few,
    ...(few ? { table: 'few', matching: 'true' } : { table, matching }),
    order: (direction, prefix = '') => sortBy.map((column) => `${prefix}${column} ${direction}`).join(', '),
  };
};

/** The rows of the page. Where an index has all that is needed to find them, only these are read from the table. */
const wholeRows = ({ table, columns, counts }: PageQuery): string =>
  counts
    ? `page.id, item.* from bounds left join (page cross join lateral (
  select ${columns.join(', ')} from ${table} as listed where listed.id = page.id offset 0) as item) on true`
    : 'page.* from bounds left join page on true';

const conditionsOf = (equal: ReadonlyMap<string, string>): string[] =>
  [...equal].map(([column, value]) => `${column} = ${value}`);

const countedOf = ({ counts, table, owner, filters }: PageQuery, equal: Search['equal'], matching: string) => {
  if (!counts) return null;
  const { status, ...others } = Object.fromEntries(equal);
  const known = new Set([owner[0], ...counts.keys]);
  if (!Object.keys(others).every((column) => known.has(column))) return null;
  const statusValue = filters.find(([column]) => column === 'status')?.[1];
  const measure = status === undefined ? 'count' : counts.statuses.find((name) => name === statusValue);
  if (measure === undefined) return null;
  const where = conditionsOf(new Map(Object.entries(others))).join(' and ');
  return { ...counts, where, measure, rows: table, matching };
};

/** `lower` and `upper` are the numbers of matching rows before the range of dates starts and before it ends. */
const bounds = (search: Search): string => {
  const { counted, list, table, matching, bind } = search;
  const { from_date: from, to_date: to } = list;
  if (!counted) return `select 0 as lower, count(*) as upper from ${table} where ${matching}${datesOf(search)}`;
  const lower = from ? countUpTo(counted, '<', from, bind) : '0';
  const upper = to ? countUpTo(counted, '<=', to, bind) : countAll(counted);
  return `select ${lower} as lower, ${upper} as upper`;
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
  const { list, bind, order } = search;
  const [offset, limit] = [bind((list.page - 1) * list.limit), bind(list.limit + 1)];
  const ids = firstIds(search, {
    range: `${datesOf(search)}${placeOf(search)}`,
    direction: list.sort,
    limit: `${offset}::int + ${limit}::int`,
  });
  return `page as materialized (select * from (${ids}) as ids order by ${order(list.sort)} limit ${limit} offset ${offset})`;
};

/** `position` has the numbers of matching rows before the page, oldest first, and before its end. */
const distantPage = (search: Search, counted: Counted): string => {
  const { list, bind, order } = search;
  const [offset, limit] = [bind((list.page - 1) * list.limit), bind(list.limit + 1)].map((value) => `${value}::int`);
  const position =
    list.sort === 'asc'
      ? `lower + ${offset} as first, least(lower + ${offset} + ${limit}, upper) as last`
      : `greatest(upper - ${offset} - ${limit}, lower) as first, upper - ${offset} as last`;
  const ids = firstIds(search, {
    range: ` and created_at >= ${startOf('(select start from minute)')}`,
    direction: 'asc',
    limit: '(select greatest(last - before, 0)::int from position, minute)',
  });
  return `position as materialized (select ${position} from bounds),
${findMinute(counted, '(select first from position)')},
page as materialized (select * from (${ids}) as ids order by ${order('asc')}
  limit (select greatest(last - first, 0)::int from position) offset (select (first - before)::int from position, minute))`;
};

/** The ids of the first rows in a range. For a filter by a part of an index's columns, it reads the index once for each
 *  value of the others. */
const firstIds = (
  { table, selected, matching, equal, counted, order }: Search,
  { range, direction, limit }: { range: string; direction: 'asc' | 'desc'; limit: string },
): string => {
  const select = (condition: string) =>
    `select ${selected.join(', ')} from ${table} where ${matching}${condition}${range} order by ${order(direction)} limit ${limit}`;
  if (!counted) return select('');
  const indexed = [...(counted.statuses.length > 0 ? ['status'] : []), ...counted.keys];
  const missing = indexed.filter((column) => !equal.has(column));
  if (missing.length === 0 || missing.length === indexed.length) return select('');
  const keys = missing.filter((column) => column !== 'status');
  const { name, where, measure, statuses } = counted;
  const values = [
    ...(keys.length > 0
      ? [
          `(select distinct ${keys.join(', ')} from ${name} where ${where} and span = ${WEEK} and ${measure} > 0) as keys`,
        ]
      : []),
    ...(missing.length > keys.length ? [`unnest('{${statuses.join(',')}}'::text[]) as statuses (status)`] : []),
  ];
  const same = missing.map(
    (column) => ` and listed.${column} = ${column === 'status' ? 'statuses' : 'keys'}.${column}`,
  );
  return `select ids.* from ${values.join(', ')} cross join lateral (
    ${select(same.join('')).replace(` from ${table} `, ` from ${table} as listed `)}) as ids`;
};
