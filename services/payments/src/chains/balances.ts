import type { Asset } from '@cpg/assets';
import { formatUnits } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import { receivingPath } from '../rails/account-key.ts';

interface Row {
  readonly network: string;
  readonly address: string;
  readonly account: string | null;
  readonly index: string | null;
  readonly asset: string | null;
  readonly units: string;
  readonly transfers: string;
}

const COLUMNS = ['network', 'address', 'account', 'path', 'asset', 'currency', 'received', 'transfers'] as const;

// An EVM address can receive money on every EVM network, also where no order shows it.
const RECEIVED = `
  select network, address, asset, sum(units) as units, count(*) as transfers
  from payments.chain_transfers where height is not null group by network, address, asset`;
const ASSIGNED = `
  select address, max(network) as network, max(account) as account, max(index) as index from (
    select address, network, account, index from payments.payables where address is not null
    union all select address, network, account, index from payments.deposit_addresses) as shown
  group by address`;

/** Addresses that orders were assigned, with what the chain shows that they received, as lines of CSV. Addresses
 *  without money are listed with `all`. The sums do not know what was spent since. */
export const balances = async (
  db: Queryable,
  assets: readonly Asset[],
  { all }: { readonly all: boolean },
): Promise<string[]> => {
  const { rows } = await db.query<Row>(
    `with received as (${RECEIVED}), assigned as (${ASSIGNED})
     select coalesce(received.network, assigned.network) as network, address, account, index, asset,
       coalesce(units, 0) as units, coalesce(transfers, 0) as transfers
     from received ${all ? 'full' : 'left'} join assigned using (address)
     order by network, account, index, address, asset`,
  );
  return [COLUMNS.join(), ...rows.map((row) => lineOf(row, assets))];
};

const lineOf = ({ network, address, account, index, asset: id, units, transfers }: Row, assets: readonly Asset[]) => {
  const asset = assets.find((each) => each.id === id);
  const received = asset ? formatUnits(BigInt(units), asset.decimals) : units;
  const path = index === null ? '' : receivingPath(Number(index));
  // Sums by this column must not mix two tokens.
  const currency = asset?.ifSent ? asset.label : asset?.currency;
  return [network, address, account ?? '', path, id ?? '', currency ?? '', received, transfers].join();
};
