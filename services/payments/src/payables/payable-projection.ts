import {
  ACCOUNT_STREAM_PREFIX,
  depositsOf,
  OrderDeletionRecorded,
  OrderPaid,
  OrderStatus,
  Timestamp,
} from '@cpg/contracts';
import type { Projection } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import { merchantOfOrder, ORDER_PREFIXES, type Payable, payableChangeIn, receivingIndex } from './payable.ts';

/** The read model of payables and of reserved derivation indexes, built from the events of orders and accounts. */
export const payableProjection = (client: EventStoreDBClient): Projection => ({
  schema: 'payments',
  name: 'payables',
  tables: ['payables', 'reserved_indexes', 'derivation_ends'],
  version: 2,
  prefixes: [...ORDER_PREFIXES, ACCOUNT_STREAM_PREFIX],
  // An index is reserved by the event of an account before the event of an order shows it.
  isWhole: true,
  transientColumns: [],
  keepRows: keepPayables,
  apply: async (db, events, schema) => {
    const payables: Payable[] = [];
    const ends = new Map<string, OrderEnd>();
    for (const entry of events) {
      const end = orderEndIn(entry);
      if (end) ends.set(end.orderId, end);
      const change = await payableChangeIn(entry, (orderId) => merchantOfOrder(client, orderId));
      if (change?.kind === 'reserved') await projectReservedIndexes(db, change, schema);
      else if (change) payables.push(...change.payables);
    }
    // An index is reserved before an order shows it, and an order is deleted after it was created.
    await projectPayables(db, payables, schema);
    await projectEnds(db, [...ends.values()], schema);
  },
});

interface ReservedIndexes {
  readonly account: string;
  readonly indexes: readonly number[];
  /** No order gets these indexes. */
  readonly skipped: boolean;
  /** The next index of the account. */
  readonly next: number;
  /** The event that reserved them. */
  readonly revision: number;
}

const projectReservedIndexes = async (
  db: Queryable,
  { account, indexes, skipped, next, revision }: ReservedIndexes,
  schema = LIVE_SCHEMA,
): Promise<void> => {
  await db.query(
    `with ends as (
       insert into ${schema}.derivation_ends as row (id, next) values ($1, $5)
       on conflict (id) do update set next = excluded.next where row.next < excluded.next)
     insert into ${schema}.reserved_indexes as row (id, account, index, revision, skipped)
     select $1 || '/' || index, $1, index, $3, $4 from unnest($2::bigint[]) as index
     on conflict (id) do update set revision = excluded.revision where row.revision < excluded.revision`,
    [account, indexes, revision, skipped, next],
  );
};

/** Whether an order has ended, and when. */
interface OrderEnd {
  readonly orderId: string;
  /** Null while it takes payments. */
  readonly endedAt: string | null;
}

const EndingData = z.object({ status: OrderStatus.optional(), at: Timestamp });

const ENDED: readonly OrderStatus[] = ['paid', 'partially_paid_expired', 'expired', 'canceled'];

/** The end of an order by an event; null if the event ends none. An event that cannot be read ends none:
 *  the addresses of an order without an end do not retire. */
const orderEndIn = ({ event }: AllStreamResolvedEvent): OrderEnd | null => {
  const { type, streamId } = event!;
  const { data } = EndingData.safeParse(event!.data);
  const isEnd = type === OrderPaid.type || type === OrderDeletionRecorded.type;
  if (!data || (!isEnd && data.status === undefined)) return null;
  const orderId = streamId.slice(streamId.indexOf('-') + 1);
  return { orderId, endedAt: isEnd || ENDED.includes(data.status!) ? data.at : null };
};

export const LIVE_SCHEMA = 'payments';

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
const projectPayables = async (db: Queryable, payables: readonly Payable[], schema = LIVE_SCHEMA): Promise<void> => {
  if (payables.length === 0) return;
  const rows = [...new Map(payables.flatMap(rowsOf).map((row) => [row.id, row])).values()];
  const indexes = rows.filter(({ index }) => index !== null).map(({ account, index }) => `${account}/${index}`);
  await db.query(insert(schema), [...NAMES.map((name) => rows.map((row) => row[name])), indexes]);
};

/** Records when orders ended, or that they are open again. */
const projectEnds = async (db: Queryable, ends: readonly OrderEnd[], schema = LIVE_SCHEMA): Promise<void> => {
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
export const kept = (schema: string, source: string) => `
  addresses as (
    insert into ${schema}.deposit_addresses (order_id, network, account, index, address, rail)
    select order_id, network, account, index, address, rail from ${source} where index is not null on conflict do nothing)
  insert into ${schema}.payment_references (order_id, provider, reference)
  select order_id, provider, reference from ${source} where reference is not null on conflict do nothing`;

/** Copies all payables to the tables of what has no event: no address may be given out again because its event is
 *  gone. */
const keepPayables = async (db: Queryable): Promise<void> => {
  await db.query(`with ${kept(LIVE_SCHEMA, `${LIVE_SCHEMA}.payables`)}`);
};
