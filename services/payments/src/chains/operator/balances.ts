import { type Asset, assetsOf } from '@cpg/assets';
import { formatDecimal } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { receivingPath } from '../../payables/payable.ts';

interface Row {
  readonly network: string;
  readonly address: string;
  readonly account: string | null;
  readonly index: string | null;
  readonly asset: string | null;
  readonly units: string;
  readonly transfers: string;
  readonly lost: string;
}

export interface Balances {
  /** Lines of CSV, the first one with the names of the columns. */
  readonly lines: string[];
  /** Transfers that the tables lost and that recorded payments show. */
  readonly lost: number;
  /** Assets that the table does not have: their amounts are in units of the chain. */
  readonly unknownAssets: string[];
}

const COLUMNS = ['network', 'address', 'account', 'path', 'asset', 'currency', 'received', 'transfers'] as const;

// An EVM address can receive money on every EVM network, also where no order shows it. Refunds go to payers.
const SEEN = `
  select network, address, asset, units, false as is_lost from payments.chain_transfers as seen where height is not null
    and not exists (select from payments.refunds where destination = seen.address)`;
// When the schema was lost, old blocks are not read again. The events of payments still bring their rows back.
const LOST = `
  select known.network,
    coalesce(shown.address, case when payment.order_id not like 'ord\\_%' then payment.order_id end, '') as address,
    coalesce(resource->>'asset', known.asset) as asset,
    trunc((resource->>'paid_amount')::numeric * ('1' || repeat('0', known.decimals))::numeric) as units, true as is_lost
  from payments.payments as payment
    join unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[])
      as known (asset, network, chain_id, currency, decimals)
      on known.currency = payment.currency and starts_with(resource->>'provider_id', known.chain_id || '/')
    left join payments.payables as shown on shown.order_id = payment.order_id and shown.network = known.network
      and shown.address is not null and shown.hosted = (payment.payment_rail = 'gateway_pay')
  where not payment.deleted and payment.status <> 'failed' and resource->'block' is not null
    and not exists (select from payments.chain_transfers as transfer
      where transfer.network = known.network
        and transfer.id = substr(resource->>'provider_id', length(known.chain_id) + 2))`;
const ASSIGNED = `
  select address, max(network) as network, max(account) as account, max(index) as index from (
    select address, network, account, index from payments.payables where address is not null
    union all select address, network, account, index from payments.deposit_addresses) as shown
  group by address`;

/** Addresses that orders were assigned, with what the chain shows that they received. Addresses without money are
 *  listed with `all`. The sums do not know what was spent since. */
export const balances = async (
  db: Queryable,
  assets: readonly Asset[],
  { all }: { readonly all: boolean },
): Promise<Balances> => {
  const recorded = recordedAssets(assets);
  const { rows } = await db.query<Row>(
    `with received as (
       select network, address, asset, sum(units) as units, count(*) as transfers, count(*) filter (where is_lost) as lost
       from (${SEEN} union all ${LOST}) as paid group by network, address, asset),
     assigned as (${ASSIGNED})
     select coalesce(received.network, assigned.network) as network, address, account, index, asset,
       coalesce(units, 0) as units, coalesce(transfers, 0) as transfers, coalesce(lost, 0) as lost
     from received ${all ? 'full' : 'left'} join assigned using (address)
     order by network, account, index, address, asset`,
    [
      recorded.map(({ id }) => id),
      recorded.map(({ network }) => network.name),
      recorded.map(({ network }) => network.chainId),
      recorded.map(({ currency }) => currency),
      recorded.map(({ decimals }) => decimals),
    ],
  );
  const known = new Set(assets.map(({ id }) => id));
  const unknown = rows.flatMap(({ asset }) => (asset !== null && !known.has(asset) ? [asset] : []));
  return {
    lines: [COLUMNS.join(), ...rows.map((row) => lineOf(row, assets))],
    lost: rows.reduce((sum, { lost }) => sum + Number(lost), 0),
    unknownAssets: [...new Set(unknown)],
  };
};

/** The assets that payments without a recorded asset consist of: for each currency and network, the asset that payers
 *  are asked for, or those that the network has. */
const recordedAssets = (assets: readonly Asset[]): Asset[] => {
  const offered = assets.filter((asset) => assetsOf({ assets }, asset.currency).includes(asset));
  const isOffered = (asset: Asset) =>
    offered.some(({ currency, network }) => currency === asset.currency && network.name === asset.network.name);
  return [...offered, ...assets.filter((asset) => !isOffered(asset))];
};

const lineOf = ({ network, address, account, index, asset: id, units, transfers }: Row, assets: readonly Asset[]) => {
  const asset = assets.find((each) => each.id === id);
  const received = asset ? formatDecimal({ units: BigInt(units), scale: asset.decimals }) : units;
  const path = index === null ? '' : receivingPath(Number(index));
  // Sums by this column must not mix two tokens.
  const currency = asset?.ifSent ? asset.label : asset?.currency;
  return [network, address, account ?? '', path, id ?? '', currency ?? '', received, transfers].join();
};
