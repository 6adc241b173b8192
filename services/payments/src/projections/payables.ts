import { depositsOf, type PaymentRail } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import type { Payable } from '../payables/payable.ts';
import { receivingIndex } from '../rails/account-key.ts';

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

// Common table expressions that copy the payables in `source` to the tables of what has no event.
const kept = (schema: string, source: string) => `
  addresses as (
    insert into ${schema}.deposit_addresses (order_id, network, account, index, address, rail)
    select order_id, network, account, index, address, rail from ${source} where index is not null on conflict do nothing)
  insert into ${schema}.payment_references (order_id, provider, reference)
  select order_id, provider, reference from ${source} where reference is not null on conflict do nothing`;

/** Moves the payables of a deleted order, whose deletion record does not name them, to the tables of what has no event.
 *  A rebuild may not find their events any more. */
export const projectUnnamedDeletion = async (db: Queryable, orderId: string, schema = LIVE_SCHEMA): Promise<void> => {
  await db.query(
    `with gone as (delete from ${schema}.payables where id > $1 || '/' and id < $1 || '0' and not deleted returning *),
     ${kept(schema, 'gone')}`,
    [orderId],
  );
};

/** Copies all payables to the tables of what has no event: no address may be given out again because its event is
 *  gone. */
export const keepPayables = async (db: Queryable): Promise<void> => {
  await db.query(`with ${kept(LIVE_SCHEMA, `${LIVE_SCHEMA}.payables`)}`);
};

/** What a payer was told to pay to. */
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
  const [column, value, earlier] =
    'address' in payAt
      ? (['address', payAt.address, 'select order_id, null, rail from payments.deposit_addresses'] as const)
      : ([
          'reference',
          payAt.reference,
          "select order_id, null, 'gateway_pay' from payments.payment_references",
        ] as const);
  const { rows } = await db.query<{ order_id: string; merchant_id: string | null; rail: PaymentRail }>({
    name: `orders payable at ${column}`,
    text: `select order_id, max(merchant_id) as merchant_id, max(rail) as rail
           from (select order_id, merchant_id, rail from payments.payables where ${column} = $1
                 union all ${earlier} where ${column} = $1) as found
           group by order_id`,
    values: [value],
  });
  return rows.map((row) => ({ orderId: row.order_id, merchantId: row.merchant_id, rail: row.rail }));
};

/** The addresses on these networks that orders show, and that belong to none of these accounts. */
export const addressesOfOtherAccounts = async (
  db: Queryable,
  networks: readonly string[],
  fingerprints: readonly string[],
): Promise<string[]> => {
  const others = await otherAccounts(db, fingerprints);
  if (others.length === 0) return [];
  const { rows } = await db.query<{ address: string }>(
    'select address from payments.payables where account = any($1) and network = any($2) and address is not null',
    [others, networks],
  );
  return rows.map(({ address }) => address);
};

/** Looks up each account once in the index, because nearly all rows belong to the given ones. */
const otherAccounts = async (db: Queryable, fingerprints: readonly string[]): Promise<string[]> => {
  const { rows } = await db.query<{ account: string }>({
    name: 'other accounts of payables',
    text: `with recursive found as (
             select min(account) as account from payments.payables
             union all
             select (select min(account) from payments.payables where account > found.account) from found
             where found.account is not null)
           select account from found where account <> all($1)`,
    values: [fingerprints],
  });
  return rows.map(({ account }) => account);
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

/** The addresses on these networks that were handed out and have no event. */
export const addressesWithoutEvents = async (db: Queryable, networks: readonly string[]): Promise<string[]> => {
  const { rows } = await db.query<{ address: string }>(
    'select address from payments.deposit_addresses where network = any($1)',
    [networks],
  );
  return rows.map(({ address }) => address);
};
