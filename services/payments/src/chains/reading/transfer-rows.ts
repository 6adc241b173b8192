import type { Queryable } from '@cpg/platform/postgres';
import type { OpenTransfer } from './chain-store.ts';
import type { Report, ReportFailure, ReportStatus, SeenTransfer } from './seen-transfer.ts';

interface Row {
  readonly id: string;
  readonly tx_hash: string;
  readonly address: string;
  readonly sender: string | null;
  readonly asset: string;
  readonly units: string;
  readonly min_confirmations: number | null;
  readonly required: number | null;
  readonly spends: string[] | null;
  readonly seen_at: Date;
  readonly height: string | null;
  readonly hash: string | null;
  readonly lost_at: string | null;
  readonly vanished_at: Date | null;
  readonly conflict_at: string | null;
  readonly replaced_by: string | null;
  readonly reported: ReportStatus | null;
  readonly reported_hash: string | null;
  readonly pending: ReportStatus | null;
  readonly pending_hash: string | null;
  readonly shown: boolean;
  readonly readings: number;
  readonly shown_by: number[];
  readonly missed_by: number[];
  readonly lost_hash: string | null;
  readonly attempts: number | null;
  readonly first_failed_at: Date;
  readonly last_failed_at: Date;
  readonly retry_at: Date | null;
  readonly failure: string;
}

/** A bigint column as a number: heights of blocks are far below 2^53. */
export const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));

const reportOf = (status: ReportStatus | null, block: string | null): Report | null => status && { status, block };

const transferOf = (row: Row): SeenTransfer => ({
  id: row.id,
  txHash: row.tx_hash,
  address: row.address,
  ...(row.sender !== null && { sender: row.sender }),
  asset: row.asset,
  units: BigInt(row.units),
  ...(row.min_confirmations !== null && { minConfirmations: row.min_confirmations }),
  ...(row.spends && { spends: row.spends }),
  seenAt: row.seen_at,
  block: row.hash === null ? null : { height: Number(row.height), hash: row.hash },
  lostHash: row.lost_hash,
  seen: { isShown: row.shown, readings: row.readings, shownBy: row.shown_by, missedBy: row.missed_by },
  lostAt: numberOf(row.lost_at),
  vanishedAt: row.vanished_at,
  conflictAt: numberOf(row.conflict_at),
  replacedBy: row.replaced_by,
  required: row.required,
  reported: reportOf(row.reported, row.reported_hash),
  pending: reportOf(row.pending, row.pending_hash),
  failure: row.attempts === null ? null : failureOf(row, row.attempts),
});

const failureOf = (row: Row, attempts: number): ReportFailure => ({
  attempts,
  firstAt: row.first_failed_at,
  lastAt: row.last_failed_at,
  retryAt: row.retry_at,
  reason: row.failure,
});

/** The transfers of a network that satisfy a condition, oldest first. `values` are its $2 and so on. `name` names the
 *  prepared statement: each condition needs another one. */
export const readTransfers = async (
  db: Queryable,
  network: string,
  name: string,
  condition: string,
  values: readonly unknown[],
): Promise<SeenTransfer[]> => {
  const { rows } = await db.query<Row>({
    name: `chain-transfers-${name}`,
    text: `select * from payments.chain_transfers where network = $1 and ${condition} order by seen_at, id`,
    values: [network, ...values],
  });
  return rows.map(transferOf);
};

/** Whether a transfer counts as received: the last reading shows it, and its payment did not fail. */
const countsIn = (row: string): string => `(${row}.shown and ${row}.reported is distinct from 'failed')`;

/** Those that may change or have something to report, oldest first. PostgreSQL computes `open` from other columns. */
export const readOpenTransfers = async (db: Queryable, network: string): Promise<OpenTransfer[]> => {
  const { rows } = await db.query<Row & { readonly units_at_address: string }>({
    name: 'open-chain-transfers',
    // One sum for each address: anybody can send thousands of transfers to one.
    text: `with paid as materialized (
             select distinct address, asset from payments.chain_transfers where network = $1 and open
           ), counted as materialized (
             select address, asset, (
               select coalesce(sum(other.units), 0) from payments.chain_transfers as other
               where other.network = $1 and other.address = paid.address and other.asset = paid.asset and ${countsIn('other')}
             ) as units from paid
           )
           select row.*, counted.units + case when ${countsIn('row')} then 0 else row.units end as units_at_address
           from payments.chain_transfers as row join counted using (address, asset)
           where network = $1 and open order by seen_at, id`,
    values: [network],
  });
  return rows.map((row) => ({ ...transferOf(row), unitsAtAddress: BigInt(row.units_at_address) }));
};

const COLUMNS = {
  id: 'text',
  tx_hash: 'text',
  address: 'text',
  sender: 'text',
  asset: 'text',
  units: 'numeric',
  min_confirmations: 'int',
  seen_at: 'timestamptz',
  height: 'bigint',
  hash: 'text',
  lost_at: 'bigint',
  vanished_at: 'timestamptz',
  conflict_at: 'bigint',
  replaced_by: 'text',
  lost_hash: 'text',
  shown: 'boolean',
  readings: 'int',
  // An array of arrays has no unequal lengths, so each list is one JSON text.
  spends: 'text',
  shown_by: 'text',
  missed_by: 'text',
} as const;

type Column = keyof typeof COLUMNS;

const NAMES = Object.keys(COLUMNS) as Column[];
/** The columns that a reorganization, a later block or another reading may change. */
const CHANGING: readonly Column[] = [
  'seen_at',
  'height',
  'hash',
  'lost_at',
  'vanished_at',
  'conflict_at',
  'replaced_by',
  'lost_hash',
  'shown',
  'readings',
  'shown_by',
  'missed_by',
];

const listOf = (name: Column, type: string): string =>
  `(select array_agg(value::${type}) from json_array_elements_text(${name}::json) as value)`;
const EXPRESSIONS: Partial<Record<Column, string>> = {
  spends: listOf('spends', 'text'),
  shown_by: `coalesce(${listOf('shown_by', 'int')}, '{}')`,
  missed_by: `coalesce(${listOf('missed_by', 'int')}, '{}')`,
};

const UPSERT = `
  insert into payments.chain_transfers (network, ${NAMES.join(', ')})
  select $1, ${NAMES.map((name) => EXPRESSIONS[name] ?? name).join(', ')}
  from unnest(${NAMES.map((name, n) => `$${n + 2}::${COLUMNS[name]}[]`).join(', ')}) as seen (${NAMES.join(', ')})
  on conflict (network, id) do update set ${CHANGING.map((name) => `${name} = excluded.${name}`).join(', ')}`;

/** Writes where the chain has transfers, each id once. Leaves what was reported about them. */
export const upsertTransfers = async (
  db: Queryable,
  network: string,
  transfers: readonly SeenTransfer[],
): Promise<void> => {
  if (transfers.length === 0) return;
  const rows = transfers.map((transfer): Record<Column, unknown> => ({
    id: transfer.id,
    tx_hash: transfer.txHash,
    address: transfer.address,
    sender: transfer.sender,
    asset: transfer.asset,
    units: String(transfer.units),
    min_confirmations: transfer.minConfirmations,
    seen_at: transfer.seenAt,
    height: transfer.block?.height,
    hash: transfer.block?.hash,
    lost_at: transfer.lostAt,
    vanished_at: transfer.vanishedAt,
    conflict_at: transfer.conflictAt,
    replaced_by: transfer.replacedBy,
    lost_hash: transfer.lostHash,
    shown: transfer.seen.isShown,
    readings: transfer.seen.readings,
    spends: JSON.stringify(transfer.spends ?? []),
    shown_by: JSON.stringify(transfer.seen.shownBy),
    missed_by: JSON.stringify(transfer.seen.missedBy),
  }));
  await db.query({
    name: 'upsert-chain-transfers',
    text: UPSERT,
    values: [network, ...NAMES.map((name) => rows.map((row) => row[name] ?? null))],
  });
};
