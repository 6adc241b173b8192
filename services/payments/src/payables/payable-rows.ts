import { depositsOf, OWN_PROVIDERS, type PaymentRail } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { OrderEnd } from './order-end.ts';
import type { Payable } from './payable.ts';
import { receivingIndex } from '../addresses/account-key.ts';

const LIVE_SCHEMA = 'payments';

const COLUMNS = {
  id: 'text',
  order_id: 'text',
  merchant_id: 'text',
  rail: 'text',
  currency: 'text',
  asset: 'text',
  network: 'text',
  address: 'text',
  account: 'text',
  index: 'bigint',
  provider: 'text',
  reference: 'text',
  assigned_at: 'timestamptz',
  deleted: 'boolean',
  hosted: 'boolean',
} as const;
type Column = keyof typeof COLUMNS;
type Row = Readonly<Record<Column, unknown>>;
const NAMES = Object.keys(COLUMNS) as Column[];

/** A row for each address, and for the reference of a payment page. */
const rowsOf = ({ orderId, merchantId, instruction, assigned }: Payable): Row[] => {
  const { rail } = instruction;
  const [provider, reference] =
    rail === 'gateway_pay' ? [instruction.provider, instruction.paymentReference] : [null, null];
  const common = {
    ...NOTHING,
    order_id: orderId,
    merchant_id: merchantId,
    rail,
    provider,
    currency: assigned?.currency,
    assigned_at: assigned?.at,
    deleted: assigned === null,
  };
  const path = [orderId, ...(provider === null ? [] : [provider])].join('/');
  const deposits = depositsOf(instruction).map((deposit) => ({
    ...common,
    id: `${path}/${deposit.network}`,
    asset: assigned && 'asset' in deposit ? deposit.asset : null,
    network: deposit.network,
    address: deposit.address,
    account: deposit.derivation.fingerprint,
    index: receivingIndex(deposit.derivation.path),
    hosted: provider !== null,
  }));
  return reference === null ? deposits : [{ ...common, id: path, reference }, ...deposits];
};

const NOTHING = {
  asset: null,
  network: null,
  address: null,
  account: null,
  index: null,
  reference: null,
  hosted: false,
};

// A row changes once: when its order is deleted.
const insert = (schema: string) => `
  with shown as (
  insert into ${schema}.payables (${NAMES.join(', ')})
  select * from unnest(${NAMES.map((name, n) => `$${n + 1}::${COLUMNS[name]}[]`).join(', ')})
  on conflict (id) do update set currency = null, asset = null, assigned_at = null, deleted = true where excluded.deleted)
  delete from ${schema}.reserved_indexes where id = any($${NAMES.length + 1}::text[])`;

/** Upserts payables, and removes their indexes from the reserved ones that no order shows. */
export const projectPayables = async (
  db: Queryable,
  payables: readonly Payable[],
  schema = LIVE_SCHEMA,
): Promise<void> => {
  if (payables.length === 0) return;
  const rows = [...new Map(payables.flatMap(rowsOf).map((row) => [row.id, row])).values()];
  const indexes = rows.filter(({ index }) => index !== null).map(({ account, index }) => `${account}/${index}`);
  await db.query(insert(schema), [...NAMES.map((name) => rows.map((row) => row[name])), indexes]);
};

/** Records when orders ended, or that they are open again. */
export const projectEnds = async (db: Queryable, ends: readonly OrderEnd[], schema = LIVE_SCHEMA): Promise<void> => {
  if (ends.length === 0) return;
  await db.query({
    name: `end payables of ${schema}`,
    text: `update ${schema}.payables as row set ended_at = change.ended_at
           from unnest($1::text[], $2::timestamptz[]) as change (order_id, ended_at)
           where row.id > change.order_id || '/' and row.id < change.order_id || '0'
             and row.ended_at is distinct from change.ended_at`,
    values: [ends.map(({ orderId }) => orderId), ends.map(({ endedAt }) => endedAt)],
  });
};

// Common table expressions that copy the payables in `source` to the tables of what has no event.
const kept = (schema: string, source: string) => `
  addresses as (
    insert into ${schema}.deposit_addresses (order_id, network, account, index, address, rail)
    select order_id, network, account, index, address, rail from ${source} where index is not null on conflict do nothing)
  insert into ${schema}.payment_references (order_id, provider, reference)
  select order_id, provider, reference from ${source} where reference is not null on conflict do nothing`;

/** Copies all payables to the tables of what has no event: no address may be given out again because its event is
 *  gone. */
export const keepPayables = async (db: Queryable): Promise<void> => {
  await db.query(`with ${kept(LIVE_SCHEMA, `${LIVE_SCHEMA}.payables`)}`);
};

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
           ) as found on true`,
    values: [among, from, at],
  });
  if (rows.length === 0) return null;
  return rows.flatMap(({ address, account, index }) =>
    address === null ? [] : [{ address, unshown: account === null ? null : { account, index: Number(index) } }],
  );
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

/** What a payer was told to pay to: an address, or the reference of a page of this gateway. An outside provider chooses
 *  its references, also one that another order has. */
export type PayAt = { readonly address: string } | { readonly reference: string };

export interface PayableOwner {
  readonly orderId: string;
  /** Null in the rows of earlier versions. */
  readonly merchantId: string | null;
  /** The rail of the instruction that shows the address or the reference: money there is money of this rail. */
  readonly rail: PaymentRail;
}

/** The orders that are paid at an address or by a reference: one, unless a backup restored by an earlier version gave
 *  an address out twice. */
export const ordersPayableAt = async (db: Queryable, payAt: PayAt): Promise<PayableOwner[]> => {
  const [column, value, condition, earlier] =
    'address' in payAt
      ? ([
          'address',
          payAt.address,
          'address = $1',
          'select order_id, null, rail from payments.deposit_addresses',
        ] as const)
      : ([
          'reference',
          payAt.reference,
          `reference = $1 and provider in (${OWN_PROVIDERS.map((name) => `'${name}'`).join(', ')})`,
          "select order_id, null, 'gateway_pay' from payments.payment_references",
        ] as const);
  const { rows } = await db.query<{ order_id: string; merchant_id: string | null; rail: PaymentRail }>({
    name: `orders payable at ${column}`,
    text: `select order_id, max(merchant_id) as merchant_id, max(rail) as rail
           from (select order_id, merchant_id, rail from payments.payables where ${condition}
                 union all ${earlier} where ${condition}) as found
           group by order_id`,
    values: [value],
  });
  return rows.map((row) => ({ orderId: row.order_id, merchantId: row.merchant_id, rail: row.rail }));
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

export interface AssetUse {
  /** CAIP-19. */
  readonly asset: string;
  readonly network: string;
  /** How many orders show it. */
  readonly orders: number;
}

/** The assets that orders show which got their instructions since an instant. */
export const assetsShownSince = async (db: Queryable, since: Date): Promise<AssetUse[]> => {
  const { rows } = await db.query<{ asset: string; network: string; orders: string }>(
    `select asset, network, count(distinct order_id) as orders from payments.payables
     where asset is not null and assigned_at >= $1 group by asset, network order by asset`,
    [since],
  );
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
};
