import type { Queryable } from '@cpg/platform/postgres';
import type { Rescan, RescanFinding, RescanStore } from './rescan.ts';
import { numberOf } from './transfer-rows.ts';

interface Row {
  readonly network: string;
  readonly from_height: string;
  readonly to_height: string | null;
  readonly next_height: string;
  readonly apply: boolean;
  readonly findings: readonly RescanFinding[];
  readonly found: string;
  readonly finished_at: Date | null;
}

/** More are in the log. */
const FINDINGS_SHOWN = 100;

const rescanOf = (row: Row): Rescan => ({
  from: Number(row.from_height),
  to: numberOf(row.to_height),
  next: Number(row.next_height),
  apply: row.apply,
  findings: row.findings,
  found: Number(row.found),
  finishedAt: row.finished_at,
});

/** The last rescan of each network. */
export const readRescans = async (db: Queryable): Promise<ReadonlyMap<string, Rescan>> => {
  const { rows } = await db.query<Row>('select * from payments.chain_rescans');
  return new Map(rows.map((row) => [row.network, rescanOf(row)]));
};

/** Asks the process that reads a network for a rescan. It takes the place of the one before. */
export const requestRescan = async (
  db: Queryable,
  network: string,
  { from, apply }: Pick<Rescan, 'from' | 'apply'>,
): Promise<void> => {
  await db.query(
    `insert into payments.chain_rescans (network, from_height, next_height, apply) values ($1, $2, $2, $3)
     on conflict (network) do update set from_height = excluded.from_height, next_height = excluded.next_height,
       apply = excluded.apply, to_height = null, findings = '[]', found = 0, finished_at = null`,
    [network, from, apply],
  );
};

export const rescanRows = (db: Queryable, network: string): RescanStore => ({
  load: async () => {
    const { rows } = await db.query<Row>({
      name: 'chain-rescan',
      text: 'select * from payments.chain_rescans where network = $1 and finished_at is null',
      values: [network],
    });
    return rows[0] ? rescanOf(rows[0]) : null;
  },
  save: async (rescan, { to, next, finishedAt }, findings) => {
    const shown = findings.slice(0, Math.max(0, FINDINGS_SHOWN - rescan.findings.length));
    const { rowCount } = await db.query({
      name: 'save-chain-rescan',
      text: `update payments.chain_rescans set to_height = $5, next_height = $6, finished_at = $7,
               findings = findings || $8::jsonb, found = found + $9
             where network = $1 and from_height = $2 and next_height = $3 and apply = $4 and finished_at is null`,
      values: [
        network,
        rescan.from,
        rescan.next,
        rescan.apply,
        to,
        next,
        finishedAt,
        JSON.stringify(shown),
        findings.length,
      ],
    });
    return rowCount === 1;
  },
});
