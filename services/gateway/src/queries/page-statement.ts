import { type Bind, type Counted, countAll, countUpTo, findMinute, startOf, WEEK } from './counts.ts';
import type { Place } from './cursor.ts';
import type { PageQuery } from './page-query.ts';

export interface Statement {
  readonly text: string;
  readonly values: unknown[];
  /** Whether one plan is right for all values: each part reads few rows by the one index that has all its columns. */
  readonly hasOnePlan: boolean;
}

/** Up to here a page is found by reading the rows before it in an index, which is cheaper than by counts. A merge reads
 *  them for each value that it merges. */
const MAX_SKIPPED = 500;
const MAX_SKIPPED_BY_MERGE = 100;

/** Selects a page, one row of the next page, and the total. Counts find totals and distant pages.
 *  A filter without counts matches few rows, so all of them are found first. */
export const pageStatement = (query: PageQuery, after?: Place): Statement =>
  statementOf(query, after, [...query.columns], (search) =>
    [
      `select ${TOTAL} as total, ${createdAtUs('page')} as created_at_us, page.* from bounds left join page on true`,
      `order by ${search.order(query.list.sort, 'page.')}`,
    ].join('\n'),
  );

/** Selects the page as a few rows. Each has the JSON of some items as one text, and the total, the number of rows `found`
 *  for the page and one more, and the place of the last item. Where an index has all that is needed to find the items,
 *  only their rows are read from the table. */
export const resourcesStatement = (query: PageQuery, after?: Place): Statement =>
  statementOf(query, after, [], (search) => {
    const { table, list } = query;
    const [order, backwards] = [list.sort, list.sort === 'asc' ? 'desc' : 'asc'] as const;
    return `, listed as materialized (
  select *, (row_number() over (order by ${search.order(order)}) - 1) / ${ITEMS_PER_ROW} as part from page
  order by ${search.order(order)} limit ${search.bind(list.limit)})
select ${TOTAL} as total, (select count(*)::int from page) as found, last.id, ${createdAtUs('last')} as created_at_us, parts.items
from bounds left join (select * from listed order by ${search.order(backwards)} limit 1) as last on true left join (
  select part, string_agg(item.resource::text, ',' order by ${search.order(order, 'listed.')}) as items
  from listed cross join lateral (select resource from ${table} as whole where whole.id = listed.id offset 0) as item
  group by part) as parts on true
order by parts.part`;
  });

/** A row for each item takes longer to send and parse. V8 frees strings above 128 KB by a full collection only. */
const ITEMS_PER_ROW = 16;

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
  const { list } = query;
  const maxSkipped = search.counted && mergedBy(search.counted, search.equal) ? MAX_SKIPPED_BY_MERGE : MAX_SKIPPED;
  const isDistant = (list.page - 1) * list.limit > maxSkipped;
  return {
    text: `with ${search.few ? `few as materialized (${search.few}),\n` : ''}bounds as materialized (${bounds(search)}),
${isDistant && search.counted ? distantPage(search, search.counted) : nearPage(search)}
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

const searchOf = (query: PageQuery, columns: readonly string[], after: Place | undefined, bind: Bind): Search => {
  const { table, list, ranges = [], owner, only = 'true', filters, sortBy = ['created_at', 'id'] } = query;
  const active = [owner, ...filters].filter(([, value]) => value !== undefined);
  const equal = new Map(active.map(([column, value]) => [column, bind(value)]));
  const matching = [only, ...conditionsOf(equal)].join(' and ');
  const counted = countedOf(query, equal, matching);
  const selected = ['id', 'created_at', ...columns];
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
  const missing = counted && mergedBy(counted, equal);
  if (!counted || !missing) return select('');
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

/** The columns of the index that a filter by only some of them leaves open. */
const mergedBy = ({ statuses, keys }: Counted, equal: Search['equal']): string[] | null => {
  const indexed = [...(statuses.length > 0 ? ['status'] : []), ...keys];
  const missing = indexed.filter((column) => !equal.has(column));
  return missing.length === 0 || missing.length === indexed.length ? null : missing;
};
