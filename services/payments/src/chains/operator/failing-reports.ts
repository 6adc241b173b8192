import type { Asset } from '@cpg/assets';
import { formatDecimal } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { paymentIdOf } from '../../payment/identity.ts';

interface Row {
  readonly network: string;
  readonly id: string;
  readonly address: string;
  readonly asset: string;
  readonly units: string;
  readonly reported: string | null;
  readonly attempts: number | null;
  readonly first_failed_at: Date | null;
  readonly last_failed_at: Date | null;
  readonly retry_at: Date | null;
  readonly failure: string | null;
}

const COLUMNS = [
  'network',
  'transfer',
  'address',
  'amount',
  'currency',
  'payment',
  'state',
  'attempts',
  'first_failure',
  'last_failure',
  'next_attempt',
  'reason',
] as const;

const failing = async (db: Queryable): Promise<Row[]> => {
  const { rows } = await db.query<Row>(
    `select network, id, address, asset, units, reported, attempts, first_failed_at, last_failed_at, retry_at, failure
     from payments.chain_transfers where attempts is not null or reported = 'refused' order by seen_at, network, id`,
  );
  return rows;
};

/** Transfers whose report as a payment fails or was refused, oldest first, as lines of CSV. */
export const failingReports = async (db: Queryable, assets: readonly Asset[]): Promise<string[]> => {
  const rows = await failing(db);
  return [COLUMNS.join(), ...rows.map((row) => lineOf(row, assets))];
};

const lineOf = (row: Row, assets: readonly Asset[]): string => {
  const asset = assets.find(({ id }) => id === row.asset);
  const amount = asset ? formatDecimal({ units: BigInt(row.units), scale: asset.decimals }) : row.units;
  const [first, last, next] = [row.first_failed_at, row.last_failed_at, row.retry_at].map((at) => at?.toISOString());
  // Earlier versions did not store the reason of a refusal.
  const reason = row.failure ?? 'see the log';
  const text = `"${reason.replaceAll('"', '""').replaceAll(/\s+/g, ' ')}"`;
  const state = row.reported === 'refused' ? 'refused' : 'retrying';
  const transfer = [row.network, row.id, row.address, amount, asset?.currency ?? row.asset, paymentOf(row)];
  return [...transfer, state, row.attempts ?? 1, first ?? '', last ?? '', next ?? '', text].join();
};

/** A CAIP-19 asset begins with its chain. */
const paymentOf = ({ asset, id }: Row): string => paymentIdOf('crypto_deposit', `${asset.split('/')[0]}/${id}`);

/** Lets the process that reads the chain make a report again at its next look: the one of a transfer or of a payment,
 *  or each one. Resolves to the transfers. */
export const retryReports = async (db: Queryable, wanted: string): Promise<string[]> => {
  const rows = await failing(db);
  const isWanted = (row: Row) => wanted === 'all' || wanted === row.id || wanted === paymentOf(row);
  const again = rows.filter(isWanted);
  // Money that no block contains is reported as received first: it then fails if it is gone for a day.
  await db.query(
    `update payments.chain_transfers as row set
       retry_at = last_failed_at,
       reported = case when reported is distinct from 'refused' then reported when height is null then 'received' end,
       reported_hash = case when reported is distinct from 'refused' then reported_hash end,
       pending = case when reported = 'refused' and height is null then 'received' else pending end
     from unnest($1::text[], $2::text[]) as again (network, id)
     where row.network = again.network and row.id = again.id and (attempts is not null or reported = 'refused')`,
    [again.map(({ network }) => network), again.map(({ id }) => id)],
  );
  return again.map(({ network, id }) => `${network} ${id}`);
};
