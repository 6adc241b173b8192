import type { Queryable } from '@cpg/platform/postgres';
import { kept, LIVE_SCHEMA } from './payable-projection.ts';

/** Looks for money at an address for good, however long ago its order ended. */
export const watchForGood = async (db: Queryable, address: string): Promise<void> => {
  await db.query(`with found as (select * from payments.payables where address = $1), ${kept(LIVE_SCHEMA, 'found')}`, [
    address,
  ]);
};

/** Whether a row of payables is still watched. An address that received money does not retire: otherwise a second
 *  reading of its block would not find that money. */
const isWatched = (at: string) => `(
  payable.ended_at is null or payable.ended_at > ${at} - interval '90 days' or exists (
    select from payments.chain_cursors join payments.chain_transfers as transfer using (network)
    where transfer.address = payable.address))`;

/** An address of ours. */
export interface KnownAddress {
  readonly address: string;
  /** Where no order shows it: its account and its index. */
  readonly unshown: { readonly account: string; readonly index: number } | null;
}

/** Those of the addresses that are ours and not retired, by rows whose checkpoint is at a position at least. Null if
 *  their checkpoint is before it. */
export const knownAddresses = async (
  db: Queryable,
  { among, from, at }: { readonly among: readonly string[]; readonly from: string | null; readonly at: Date },
): Promise<KnownAddress[] | null> => {
  const { rows } = await db.query<{ address: string | null; account: string | null; index: string | null }>({
    name: 'known addresses',
    // One statement, so that no crash lies between the checkpoint and the rows.
    text: `select found.* from (
             select where $2::numeric is null or $2 <= (
               select commit_position from payments.checkpoints where name = 'payables' and retired_at is null)
           ) as complete left join (
             select address, null as account, null::bigint as index from payments.payables as payable
             where address = any($1) and ${isWatched('$3::timestamptz')}
             union all select address, null, null from payments.deposit_addresses where address = any($1)
             union all select address, account, index from payments.unshown_addresses where address = any($1)
             union all select destination, null, null from payments.refunds
             where destination = any($1) and (ended_at is null or ended_at > $3::timestamptz - interval '90 days')
           ) as found on true`,
    values: [among, from, at],
  });
  if (rows.length === 0) return null;
  return rows.flatMap(({ address, account, index }) =>
    address === null ? [] : [{ address, unshown: account === null ? null : { account, index: Number(index) } }],
  );
};

/** Whether the gateway takes deposits at an address, or did. */
export const isDepositAddress = async (db: Queryable, address: string): Promise<boolean> => {
  const { rowCount } = await db.query(
    `select from payments.payables where address = $1
     union all select from payments.deposit_addresses where address = $1
     union all select from payments.unshown_addresses where address = $1 limit 1`,
    [address],
  );
  return rowCount !== 0;
};

/** How many addresses are known, as PostgreSQL estimates it. */
export const watchedEstimate = async (db: Queryable): Promise<number> => {
  const { rows } = await db.query<{ estimate: string | null }>({
    name: 'estimate of known addresses',
    text: `select sum(greatest(reltuples, 0))::bigint as estimate from pg_class where oid in (
             'payments.payables'::regclass, 'payments.deposit_addresses'::regclass,
             'payments.unshown_addresses'::regclass)`,
  });
  return Number(rows[0]!.estimate);
};

/** Where an address belongs, and whether it is watched. */
export interface AddressDetails {
  readonly orderId: string;
  readonly merchantId: string | null;
  readonly network: string;
  readonly account: string;
  readonly index: number | null;
  readonly endedAt: Date | null;
  readonly isWatched: boolean;
}

export const addressDetails = async (db: Queryable, address: string): Promise<AddressDetails[]> => {
  const { rows } = await db.query<{
    order_id: string;
    merchant_id: string | null;
    network: string;
    account: string;
    index: string | null;
    ended_at: Date | null;
    is_watched: boolean;
  }>(
    `select order_id, max(merchant_id) as merchant_id, network, max(account) as account, max(index) as index,
       max(ended_at) as ended_at, bool_or(is_watched) as is_watched
     from (
       select order_id, merchant_id, network, account, index, ended_at, ${isWatched('now()')} as is_watched
       from payments.payables as payable where address = $1
       union all select order_id, null, network, account, index, null, true from payments.deposit_addresses
       where address = $1
     ) as found group by order_id, network order by order_id`,
    [address],
  );
  return rows.map((row) => ({
    orderId: row.order_id,
    merchantId: row.merchant_id,
    network: row.network,
    account: row.account,
    index: row.index === null ? null : Number(row.index),
    endedAt: row.ended_at,
    isWatched: row.is_watched,
  }));
};

// Ids begin with those of orders, which begin with their time.
const NEWEST_ADDRESSES = `
  select address from (select * from payments.payables order by id desc limit 2000) as newest
  where network = $1 and address is not null and not deleted and assigned_at > $2
  order by id desc limit 200`;

/** The addresses of a network that the newest orders after an instant show: at most 200. */
export const newestAddresses = async (db: Queryable, network: string, after: Date): Promise<string[]> => {
  const { rows } = await db.query<{ address: string }>({
    name: 'newest addresses of payables',
    text: NEWEST_ADDRESSES,
    values: [network, after],
  });
  return rows.map(({ address }) => address);
};
