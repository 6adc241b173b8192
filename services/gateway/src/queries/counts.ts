/** A table of exact counts by spans, kept by the service that owns the rows. */
export interface CountTable {
  readonly name: string;
  /** The columns of its key that lists filter by. */
  readonly keys: readonly string[];
  /** The values of `status`, each of which has a column. Empty for rows without a status. */
  readonly statuses: readonly string[];
}

const MINUTE_MS = 60_000;
export const WEEK = 10_080;
/** The lengths of the spans in minutes, longest first, as in the migrations of the services. */
const SPANS = [WEEK, 1_680, 120, 12, 1] as const;

/** Adds a value to those of a statement, and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** The parts of a statement that count rows. All conditions include the owner and the filters. */
export interface Counted extends CountTable {
  /** The condition on the counts, and the column to sum. */
  readonly where: string;
  readonly measure: string;
  /** The counted rows, and the condition on them. */
  readonly rows: string;
  readonly matching: string;
}

/** The number of all matching rows. */
export const countAll = (counted: Counted): string => sum(counted, WEEK, 'true');

/** The number of matching rows that were created before `at`, or until then: whole spans, and rows of the last
 *  minute. */
export const countUpTo = (counted: Counted, operator: '<' | '<=', at: Date, bind: Bind): string => {
  const minutes = Math.floor(at.getTime() / MINUTE_MS);
  const starts = SPANS.map((span) => bind(minutes - (minutes % span)));
  const sums = SPANS.map((span, index) => {
    const after = index === 0 ? '' : `start >= ${starts[index - 1]!} and `;
    return sum(counted, span, `${after}start < ${starts[index]!}`);
  });
  return `(${sums.join('\n    + ')}
    + (select count(*) from ${counted.rows} where ${counted.matching}
         and created_at >= ${startOf(starts.at(-1)!)} and created_at ${operator} ${bind(at)}))`;
};

const sum = ({ name, where, measure }: Counted, span: number, range: string): string =>
  `(select coalesce(sum(${measure}), 0) from ${name} where ${where} and span = ${span} and ${range})`;

/** Common table expressions that find a matching row, oldest first. `minute` has the `start` of its minute, and the
 *  number of matching rows `before` that; it is empty when no more than `before` rows match. */
export const findMinute = (counted: Counted, before: string): string =>
  SPANS.map((span, index) => {
    const outer = SPANS[index - 1];
    const [earlier, range] = outer ? [`(select before from ${nameOf(outer)})`, within(outer)] : ['0', 'true'];
    return `${nameOf(span)} as materialized (${spanOf(counted, before, span, earlier, range)})`;
  }).join(',\n');

const nameOf = (span: number): string => (span === 1 ? 'minute' : `span_of_${span}`);

const spanOf = ({ name, where, measure }: Counted, before: string, span: number, earlier: string, range: string) =>
  `select start, up_to - n as before from (
     select start, n, ${earlier} + sum(n) over (order by start) as up_to from (
       select start, sum(${measure}) as n from ${name} where ${where} and span = ${span} and ${range} group by start
     ) as spans
   ) as spans where up_to > ${before} order by start limit 1`;

const within = (outer: number): string =>
  `start >= (select start from ${nameOf(outer)}) and start < (select start from ${nameOf(outer)}) + ${outer}`;

/** When a minute starts. */
export const startOf = (minute: string): string => `to_timestamp(${minute}::bigint * 60)`;
