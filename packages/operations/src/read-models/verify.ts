import { setTimeout as sleep } from 'node:timers/promises';
import { type Difference, MAX_DIFFERENCES } from './difference.ts';
import type { Projection } from '@cpg/event-sourcing';
import { verifyCounts } from './verify-counts.ts';
import { type ShadowTableOptions, type ShadowTables, withShadowTables } from './shadow-tables.ts';

export interface Verification {
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
