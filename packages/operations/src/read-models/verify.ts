import { setTimeout as sleep } from 'node:timers/promises';
import type { HashChainVerification, CountTable, Projection } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import { type ShadowTableOptions, type ShadowTables, withShadowTables } from './shadow-tables.ts';

interface Verification {
  readonly rows: number;
  /** At most `MAX_DIFFERENCES` of them. */
  readonly differences: readonly Difference[];
  /** How many rows differ. */
  readonly differ: number;
}

const ATTEMPTS = 8;
const RETRY_DELAY_MS = 500;

/** Compares each row of a projection with a replay of the log, while its tables are in use. A row may differ for a
 *  moment because a write to it is in progress: only rows that differ in every attempt over some seconds are reported.
 *  Throws ProjectionError. */
export const verify = (options: ShadowTableOptions): Promise<Verification> =>
  withShadowTables(options, async (shadow, signal) => {
    let position = shadow.built;
    const compared = options.projection.tables.map((table) => ({
      ...comparison(shadow, options.projection, table),
      ids: null as string[] | null,
    }));
    const compare = async () => {
      for (const table of compared) table.ids = await table.differingIds(table.ids);
    };
    const differ = () => compared.reduce((count, { ids }) => count + (ids?.length ?? 0), 0);
    await compare();
    for (let attempt = 1; attempt <= ATTEMPTS && differ() > 0; attempt += 1) {
      position = await shadow.catchUp(position, signal);
      await compare();
      if (differ() > 0 && attempt < ATTEMPTS) await sleep(RETRY_DELAY_MS, undefined, { signal });
    }
    let rows = 0;
    const differences: Difference[] = [];
    for (const { ids, ...table } of compared) {
      rows += await table.countRows();
      differences.push(...(await table.differences((ids ?? []).slice(0, MAX_DIFFERENCES))));
    }
    const counted = await verifyCounts(shadow.session, options.projection);
    return {
      rows,
      differ: differ() + counted.differ,
      differences: [...differences, ...counted.differences].slice(0, MAX_DIFFERENCES),
    };
  });

const comparison = ({ session, schema }: ShadowTables, projection: Projection, table: string) => {
  const live = `${projection.schema}.${table}`;
  const withoutTransient = (row: string) => `to_jsonb(${row}) - $1::text[]`;
  const only = (name: string) => `(select * from ${name} where $2::text[] is null or id = any($2))`;
  const joined = `${only(live)} as live full join ${only(`${schema}.${table}`)} as replayed using (id)`;
  const [liveRow, replayedRow] = [withoutTransient('live'), withoutTransient('replayed')];
  const { transientColumns } = projection;
  return {
    /** Among `ids`, or among all rows for null. */
    differingIds: async (ids: string[] | null) => {
      const { rows } = await session.query<{ id: string }>(
        `select id from ${joined} where ${liveRow} is distinct from ${replayedRow} order by id`,
        [transientColumns, ids],
      );
      return rows.map(({ id }) => id);
    },
    differences: async (ids: string[]) => {
      const { rows } = await session.query<Difference>(
        `select '${live}' as table, id, ${liveRow} as live, ${replayedRow} as replayed from ${joined} order by id`,
        [transientColumns, ids],
      );
      return rows;
    },
    countRows: async () => {
      const { rows } = await session.query<{ count: string }>(`select count(*) from ${live}`);
      return Number(rows[0]!.count);
    },
  };
};

/** Compares the counts of a projection with its rows. Each comparison is one statement, so it reads one snapshot. */
export const verifyCounts = async (
  db: Queryable,
  { schema, counts = [] }: Pick<Projection, 'schema' | 'counts'>,
): Promise<{ differ: number; differences: readonly Difference[] }> => {
  const found = { differ: 0, differences: [] as Difference[] };
  for (const count of counts) {
    const { rows } = await db.query<Difference & { differ: string }>(countComparison(schema, count));
    found.differ += Number(rows[0]?.differ ?? 0);
    found.differences.push(...rows.map(({ table, id, live, replayed }) => ({ table, id, live, replayed })));
  }
  return found;
};

/** A query that counts the rows of the tables in `schema`, and returns the rows that the table of counts should
 *  have. */
export const recount = (schema: string, { of, keys, where = 'true' }: CountTable): string => {
  const by = ['merchant_id', 'days.day', ...keys].join(', ');
  return `select ${by}, count(*)::int as n from ${schema}.${of}
    cross join lateral (values ((created_at at time zone 'UTC')::date), ('-infinity')) as days (day)
    where ${where} group by ${by}`;
};

// A count of zero is the same as no count.
const countComparison = (schema: string, count: CountTable): string => {
  const key = ['merchant_id', 'day', ...count.keys].join(', ');
  const row = (of: string) => `case when ${of}.n is not null then jsonb_build_object('n', ${of}.n) end`;
  return `select '${schema}.${count.name}' as table, concat_ws(' ', ${key}) as id,
      ${row('live')} as live, ${row('recounted')} as replayed, count(*) over () as differ
    from (select * from ${schema}.${count.name} where n <> 0) as live
      full join (${recount(schema, count)}) as recounted using (${key})
    where live.n is distinct from recounted.n order by ${key} limit ${MAX_DIFFERENCES}`;
};

type Row = Readonly<Record<string, unknown>>;

/** A live row that differs from its replay, or a count that differs from its rows. Null stands for a missing row. */
interface Difference {
  readonly table: string;
  readonly id: string;
  readonly live: Row | null;
  readonly replayed: Row | null;
}

/** The number of differences that a verification reports in full. */
const MAX_DIFFERENCES = 50;

/** The lines that `audit verify` prints for the hash chains of streams. */
export const hashChainReport = (
  prefixes: readonly string[],
  { events, faults, shown }: HashChainVerification,
): string[] => {
  const streams = `streams ${prefixes.map((prefix) => `${prefix}*`).join(', ')}`;
  if (faults === 0) return [`${streams}: ${events} events, all hash chains are intact`];
  const more = faults > shown.length ? [`and ${faults - shown.length} more`] : [];
  return [
    ...shown.map(({ stream, revision, fault }) => `${stream}, event ${revision}: ${fault}`),
    ...more,
    `${streams}: ${faults} of ${events} events fail verification`,
  ];
};

/** The lines that `projections verify` prints for the tables of a projection. */
export const rowReport = (tables: readonly string[], { rows, differ, differences }: Verification): string[] => {
  const named = tables.join(', ');
  if (differ === 0) return [`${named}: ${rows} rows, all match the event store`];
  const more = differ > MAX_DIFFERENCES ? [`and ${differ - MAX_DIFFERENCES} more`] : [];
  return [
    ...differences.flatMap(describeDifference),
    ...more,
    `${named}: ${differ} of ${rows} rows differ from the event store: keep a copy of both first, and find out why; "projections rebuild" replaces the rows`,
  ];
};

const describeDifference = ({ table, id, live, replayed }: Difference): string[] => {
  if (!live) return [`${id}: the row is missing in ${table}`];
  if (!replayed) return [`${id}: the event store has nothing that results in this row of ${table}`];
  const columns = Object.keys(replayed).filter((column) => jsonOf(live[column]) !== jsonOf(replayed[column]));
  return columns.map(
    (column) =>
      `${id}: ${column} is ${jsonOf(live[column])}, expected ${jsonOf(replayed[column])} from the event store`,
  );
};

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'absent';
