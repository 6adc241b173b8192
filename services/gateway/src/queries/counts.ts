/** A table of exact counts by spans, kept by the service that owns the rows. */
export interface CountTable {
  readonly name: string;
  /** The same counts over all currencies. */
  readonly totals: string;
  /** The columns of its key that lists filter by. */
  readonly keys: readonly string[];
  /** The values of `status`, each of which has a column. Empty for rows without a status. */
  readonly statuses: readonly string[];
}

const MINUTE_MS = 60_000;
const WEEK = 10_080;
/** The lengths of the spans in minutes, longest first, as in the migrations of the services. */
const SPANS = [WEEK, 1_680, 120, 12, 1] as const;

/** Adds a value to those of a statement, and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** The parts of a statement that count rows. All conditions include the owner and the filters. */
export interface Counted extends CountTable {
  /** The table to sum. */
  readonly summed: string;
  /** The condition on the counts, and the column to sum. */
  readonly where: string;
  readonly measure: string;
  /** The counted rows, and the condition on them. */
  readonly rows: string;
  readonly matching: string;
  /** The columns of the index that have no filter. Empty if none has a filter, or all have. */
  readonly open: readonly string[];
}

/** The common table expression `weeks` has the number `n` of matching rows of each week. */
export const weeksOf = ({ summed, where, measure }: Counted): string =>
  `weeks as materialized (select start, sum(${measure})::int as n from ${summed} where ${where} and span = ${WEEK} group by start)`;

/** The common table expression `keys` has the values of the open columns for which there are rows near a time. */
export const keysOf = (
  { name, where, measure, open, statuses }: Counted,
  { from, to }: { from: string | undefined; to: string | undefined },
): string => {
  const range = `${from ? ` and start > ${from} - ${WEEK}` : ''}${to ? ` and start <= ${to}` : ''}`;
  const counts = `from ${name} where ${where} and span = ${WEEK}${range}`;
  if (!open.includes('status'))
    return `keys as materialized (select distinct ${open.join(', ')} ${counts} and ${measure} > 0)`;
  const columns = open.filter((column) => column !== 'status');
  const largest = [...columns, ...statuses.map((status) => `max(${status}) as ${status}`)].join(', ');
  const grouped = columns.length > 0 ? ` group by ${columns.join(', ')}` : '';
  return `keys as materialized (select ${open.join(', ')} from (select ${largest} ${counts}${grouped}) as largest
  cross join ${byStatus(statuses)} where n > 0)`;
};

/** A row for each status, with its count. */
const byStatus = (statuses: readonly string[]): string =>
  `lateral (values ${statuses.map((status) => `('${status}', ${status})`).join(', ')}) as statuses (status, n)`;

/** Selects from the matching rows of each key. It reads the index once for each. */
export const ofEachKey = (
  { rows, matching, open }: Counted,
  { select, range, keys = 'keys' }: { select: string; range: string; keys?: string },
): string => {
  const same = open.map((column) => ` and listed.${column} = keys.${column}`).join('');
  return `select of_key.* from ${keys} cross join lateral (
    select ${select} from ${rows} as listed where ${matching}${same}${range}) as of_key`;
};

/** The number of matching rows in a part of a minute. It counts only the keys that the minute has. */
const inMinute = (counted: Counted, minute: string, end: string): string => {
  const { name, where, measure, rows, matching, open, statuses } = counted;
  const range = ` and created_at >= ${startOf(minute)} and created_at ${end}`;
  if (open.length === 0) return `(select count(*) from ${rows} where ${matching}${range})`;
  const [from, n] = open.includes('status') ? [`${name} cross join ${byStatus(statuses)}`, 'n'] : [name, measure];
  const keys = `(select ${open.join(', ')} from ${from} where ${where} and span = 1 and start = ${minute} and ${n} > 0) as keys`;
  return `(select coalesce(sum(n), 0) from (${ofEachKey(counted, { keys, select: 'count(*) as n', range })}) as found)`;
};

/** The number of matching rows in the weeks that meet a condition. */
const inWeeks = (condition: string): string => `(select coalesce(sum(n), 0) from weeks where ${condition})`;

/** Selects `lower` and `upper`, the numbers of matching rows that were created before `from` and until `to`. Without
 *  these, they are 0 and the number of all rows. */
export const countBetween = (
  counted: Counted,
  { from, to }: { from: Date | undefined; to: Date | undefined },
  bind: Bind,
): string => {
  const all = `${inWeeks('true')}::int`;
  if (!from && !to) return `select 0 as lower, ${all} as upper`;
  const { summed, where, measure } = counted;
  const parts: string[] = [];
  const upTo = (bound: string, operator: '<' | '<=', at: Date): string => {
    const borders = bordersOf(minuteOf(at)).map((border) => `${bind(border)}::bigint`);
    parts.push(
      ...SPANS.slice(1).map((span, index) => `('${bound}', ${span}, ${borders[index + 1]}, ${borders[index]})`),
    );
    return `(${inWeeks(`start < ${borders[0]}`)} + coalesce(sum(n) filter (where bound = '${bound}'), 0)
    + ${inMinute(counted, borders.at(-1)!, `${operator} ${bind(at)}`)})::int`;
  };
  const [lower, upper] = [from && upTo('lower', '<', from), to && upTo('upper', '<=', to)];
  return `select ${lower ?? 0} as lower, ${upper ?? all} as upper
  from (values ${parts.join(', ')}) as parts (bound, length, border, nearest) cross join lateral (
    select case when nearest < border then sum(${measure}) else -sum(${measure}) end as n from ${summed}
    where ${where} and span = length and start >= least(border, nearest) and start < greatest(border, nearest)) as counts`;
};

/** The minute since 1970 in which an instant is. */
export const minuteOf = (at: Date): number => Math.floor(at.getTime() / MINUTE_MS);

/** For each span, longest first, the border that is nearest to the one of the next shorter span. The last one is the
 *  minute. Between two of them are at most half of the spans that the longer one has. */
const bordersOf = (minute: number): number[] =>
  SPANS.reduceRight<number[]>((borders, span) => [Math.round((borders[0] ?? minute) / span) * span, ...borders], []);

/** Common table expressions that find matching rows by their rank, oldest first. `minutes` has the `start` of the minute
 *  of each, and the number of matching rows `before` that; it has no row for a rank that does not exist. */
export const findMinutes = (counted: Counted, ranks: readonly string[]): string => {
  const spans = SPANS.map(
    (span, index) => `cross join lateral (${spanOf(counted, span, SPANS[index - 1])}) as ${nameOf(span)}`,
  );
  return `minutes as materialized (select ${nameOf(1)}.* from (values ${ranks.map((rank) => `(${rank})`).join(', ')}) as ranks (rank)
  ${spans.join('\n  ')})`;
};

const nameOf = (span: number): string => `span_of_${span}`;

const spanOf = ({ summed, where, measure }: Counted, span: number, outer: number | undefined): string => {
  const [earlier, spans] = outer
    ? [
        `${nameOf(outer)}.before`,
        `(select start, sum(${measure})::int as n from ${summed} where ${where} and span = ${span}
        and start >= ${nameOf(outer)}.start and start < ${nameOf(outer)}.start + ${outer} group by start) as spans`,
      ]
    : ['0', 'weeks'];
  return `select start, up_to - n as before from (
      select start, n, ${earlier} + sum(n) over (order by start rows unbounded preceding) as up_to from ${spans}
    ) as spans where up_to > rank order by start limit 1`;
};

/** When a minute starts. */
export const startOf = (minute: string): string => `to_timestamp(${minute}::bigint * 60)`;
