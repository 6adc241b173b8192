import { setTimeout as sleep } from 'node:timers/promises';
import { type Beside, type BesideOptions, withTableBeside } from './beside.ts';
import { type Projection, tableOf } from './projection.ts';

type Row = Readonly<Record<string, unknown>>;

/** A row that is not what the log says. Null where there is no row. */
export interface Difference {
  readonly id: string;
  readonly live: Row | null;
  readonly replayed: Row | null;
}

export interface Verification {
  readonly rows: number;
  /** At most `DIFFERENCES_SHOWN` of them. */
  readonly differences: readonly Difference[];
  readonly differ: number;
}

const ROUNDS = 8;
const ROUND_EVERY_MS = 500;
export const DIFFERENCES_SHOWN = 50;

/** Compares each row with a replay of the log, while it is written. A row that its writer is about to write differs for a moment: what
 *  differs is looked at again, several times over some seconds, and is right when it once was. Throws ProjectionFault. */
export const verify = (options: BesideOptions): Promise<Verification> =>
  withTableBeside(options, async (beside, signal) => {
    const suspects = differences(beside, options.projection);
    let reached = beside.built;
    let ids = await suspects.ids(null);
    for (let round = 1; round <= ROUNDS && ids.length > 0; round += 1) {
      reached = await beside.catchUp(reached, signal);
      ids = await suspects.ids(ids);
      if (ids.length > 0 && round < ROUNDS) await sleep(ROUND_EVERY_MS, undefined, { signal });
    }
    return {
      rows: await suspects.rows(),
      differ: ids.length,
      differences: await suspects.shown(ids.slice(0, DIFFERENCES_SHOWN)),
    };
  });

const differences = ({ session, table }: Beside, projection: Projection) => {
  const live = tableOf(projection);
  const facts = (row: string) => `to_jsonb(${row}) - $1::text[]`;
  const among = (of: string) => `(select * from ${of} where $2::text[] is null or id = any($2))`;
  const compared = `${among(live)} as live full join ${among(table)} as replayed using (id)`;
  const { passing } = projection;
  return {
    ids: async (only: string[] | null) => {
      const { rows } = await session.query<{ id: string }>(
        `select id from ${compared} where ${facts('live')} is distinct from ${facts('replayed')} order by id`,
        [passing, only],
      );
      return rows.map(({ id }) => id);
    },
    shown: async (only: string[]) => {
      const { rows } = await session.query<Difference>(
        `select id, ${facts('live')} as live, ${facts('replayed')} as replayed from ${compared} order by id`,
        [passing, only],
      );
      return rows;
    },
    rows: async () => {
      const { rows } = await session.query<{ count: string }>(`select count(*) from ${live}`);
      return Number(rows[0]!.count);
    },
  };
};
