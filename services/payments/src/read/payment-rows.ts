import { dueBackMinor, fromMinor, type LedgerKept, refundView, type UnsettledPayment } from '@cpg/contracts';
import { batchWriter, type Pool, type Queryable } from '@cpg/platform/postgres';
import type { Posting } from '../payment/postings.ts';
import { type ExistingPayment, findRefund, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { paymentResource } from '../payment/view.ts';

export interface ProjectedPayment {
  readonly payment: ExistingPayment | DeletedPayment;
  readonly revision: number;
}

/** The fields that stay of a deleted payment. */
type DeletedPayment = Pick<ExistingPayment, 'paymentId'> & { readonly status: 'deleted' };

const LIVE_SCHEMA = 'payments';

// Skips rows that are deleted or up to date, with their refunds. Locks the rows of payments in the order of their ids,
// then, in the triggers that count, the locks of the counts (ADR 32). The row of a payment guards those of its refunds.
// The columns that no update changes are null once the payment is deleted.
const upsert = (schema: string) => `
  with projected as (
  insert into ${schema}.payments as row (id, merchant_id, order_id, status, currency, payment_rail, due_back, created_at, revision, resource, tx_hash, deleted, applied_at, refunded_at, failed_at, updated_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bool[], $8::timestamptz[], $9::bigint[], $10::json[],
    $11::text[], $12::bool[], $13::timestamptz[], $14::timestamptz[], $15::timestamptz[], $16::timestamptz[])
  order by 1
  on conflict (id) do update set merchant_id = excluded.merchant_id, order_id = excluded.order_id, status = excluded.status,
    currency = excluded.currency, payment_rail = excluded.payment_rail, due_back = excluded.due_back, created_at = excluded.created_at,
    revision = excluded.revision, resource = excluded.resource, tx_hash = excluded.tx_hash, deleted = excluded.deleted,
    applied_at = excluded.applied_at, refunded_at = excluded.refunded_at, failed_at = excluded.failed_at, updated_at = excluded.updated_at
  where not row.deleted and (row.revision < excluded.revision or excluded.deleted)
  returning id),
  posted as (
  insert into ${schema}.postings (${POSTING_COLUMNS.map(([name]) => name).join(', ')})
  select ${POSTING_COLUMNS.map(([name]) => `posting.${name}`).join(', ')}
    from unnest(${places(POSTING_COLUMNS, 17)}) as posting (${POSTING_COLUMNS.map(([name]) => name).join(', ')})
    join projected on projected.id = posting.payment_id
  on conflict (id) do nothing)
  insert into ${schema}.refunds as row (${REFUND_COLUMNS.map(([name]) => name).join(', ')})
  select ${REFUND_COLUMNS.map(([name]) => (name === 'senders' ? LIST_OF_SENDERS : `refund.${name}`)).join(', ')}
    from unnest(${places(REFUND_COLUMNS, 17 + POSTING_COLUMNS.length)})
      as refund (${REFUND_COLUMNS.map(([name]) => name).join(', ')})
    join projected on projected.id = refund.payment_id
  on conflict (id) do update set ${CHANGING.map((name) => `${name} = excluded.${name}`).join(', ')}
  where (row.resource::text, row.transfer_id, row.claim_hash)
    is distinct from (excluded.resource::text, excluded.transfer_id, excluded.claim_hash)`;

/** The placeholders of columns, from `$first` on. */
const places = (columns: readonly (readonly [name: string, type: string])[], first: number): string =>
  columns.map(([, type], n) => `$${first + n}::${type}[]`).join(', ');

/** The columns of postings and their types in the statement. */
const POSTING_COLUMNS = [
  ['id', 'text'],
  ['payment_id', 'text'],
  ['merchant_id', 'text'],
  ['order_id', 'text'],
  ['currency', 'text'],
  ['account', 'text'],
  ['amount', 'numeric'],
  ['event', 'text'],
  ['refund_id', 'text'],
  ['tx_hash', 'text'],
  ['payment_created_at', 'timestamptz'],
  ['created_at', 'timestamptz'],
] as const;

/** The columns of refunds and their types in the statement. */
const REFUND_COLUMNS = [
  ['id', 'text'],
  ['payment_id', 'text'],
  ['merchant_id', 'text'],
  ['order_id', 'text'],
  ['currency', 'text'],
  ['created_at', 'timestamptz'],
  ['resource', 'json'],
  ['status', 'text'],
  ['amount_minor', 'numeric'],
  ['decimals', 'int'],
  ['network', 'text'],
  ['asset', 'text'],
  ['destination', 'text'],
  // Each list is one text, because an array of arrays has no unequal lengths.
  ['senders', 'text'],
  ['after_height', 'bigint'],
  ['transfer_id', 'text'],
  ['claim_hash', 'text'],
  ['claim_on_page', 'bool'],
  ['ended_at', 'timestamptz'],
] as const;
type RefundColumn = (typeof REFUND_COLUMNS)[number][0];

const LIST_OF_SENDERS = '(select array_agg(value) from json_array_elements_text(refund.senders::json) as value)';

const CHANGING: readonly RefundColumn[] = [
  'resource',
  'status',
  'destination',
  'senders',
  'after_height',
  'transfer_id',
  'claim_hash',
  'claim_on_page',
  'ended_at',
];

/** Upserts payments with their refunds and postings, each once. Clears every column of a deleted payment but its id,
 *  deletes its refunds, and keeps of its postings what `LedgerKept` has: run that in a transaction. A row with the same
 *  or a later revision, or a deleted row, is not changed. */
export const projectPayments = async (
  db: Queryable,
  payments: readonly ProjectedPayment[],
  schema = LIVE_SCHEMA,
): Promise<void> => {
  if (payments.length === 0) return;
  const column = <T>(value: (projected: ProjectedPayment) => T) => payments.map(value);
  const existing = <T>(value: (payment: ExistingPayment) => T) =>
    column(({ payment }) => (payment.status === 'deleted' ? null : value(payment)));
  const refunds = existing(refundRows).flatMap((ofPayment) => ofPayment ?? []);
  const postings = existing(postingRows).flatMap((ofPayment) => ofPayment ?? []);
  const values = [
    column(({ payment }) => payment.paymentId),
    existing(({ merchantId }) => merchantId),
    existing(({ orderId }) => orderId),
    existing(({ status }) => status),
    existing(({ currency }) => currency),
    existing(({ rail }) => rail),
    existing((payment) => dueBackMinor(payment) > 0n),
    existing(({ createdAt }) => createdAt),
    column(({ revision }) => revision),
    existing((payment) => JSON.stringify(paymentResource(payment))),
    existing(({ txHash }) => txHash),
    column(({ payment }) => payment.status === 'deleted'),
    existing(({ appliedAt }) => appliedAt),
    existing(({ refundedAt }) => refundedAt),
    existing(({ failedAt }) => failedAt),
    existing(({ updatedAt }) => updatedAt),
    ...POSTING_COLUMNS.map(([name]) => postings.map((row) => row[name] ?? null)),
    ...REFUND_COLUMNS.map(([name]) => refunds.map((row) => row[name] ?? null)),
  ];
  await db.query({ name: `project-payments ${schema}`, text: upsert(schema), values });
  const deleted = payments.flatMap(({ payment }) => (payment.status === 'deleted' ? payment.paymentId : []));
  if (deleted.length === 0) return;
  // Statements of their own see the rows that were added until those of the payments were locked.
  await db.query(`delete from ${schema}.refunds where payment_id = any($1)`, [deleted]);
  await db.query(`delete from ${schema}.postings where payment_id = any($1) and merchant_id = $2`, [
    deleted,
    UNCLAIMED_MERCHANT,
  ]);
  await db.query(`update ${schema}.postings set tx_hash = null where payment_id = any($1) and tx_hash is not null`, [
    deleted,
  ]);
};

/** Inserts the lines of ledgers that stay of deleted payments. Lines that are there are not changed. */
export const projectKeptLedgers = async (
  db: Queryable,
  ledgers: readonly LedgerKept['data'][],
  schema = LIVE_SCHEMA,
): Promise<void> => {
  if (ledgers.length === 0) return;
  const rows = ledgers.flatMap((ledger) =>
    ledger.lines.map(({ amountMinor, ...line }) =>
      postingRow({ ...ledger, createdAt: ledger.paymentCreatedAt }, { ...line, amountMinor: BigInt(amountMinor) }),
    ),
  );
  const names = POSTING_COLUMNS.map(([name]) => name);
  await db.query(
    `insert into ${schema}.postings (${names.join(', ')}) select * from unnest(${places(POSTING_COLUMNS, 1)})
     on conflict (id) do nothing`,
    names.map((name) => rows.map((row) => row[name] ?? null)),
  );
};

/** Writes the row of a payment before the payment is answered, together with those of concurrent requests. */
export const paymentWriter = (pool: Pool) => {
  const write = batchWriter<ProjectedPayment & { readonly id: string }>((rows) => projectPayments(pool, rows));
  return (projected: ProjectedPayment): Promise<void> => write({ id: projected.payment.paymentId, ...projected });
};

const refundRows = (payment: ExistingPayment): Record<RefundColumn, unknown>[] =>
  payment.refunds.map((refund) => ({
    id: refund.refundId,
    payment_id: payment.paymentId,
    merchant_id: payment.merchantId,
    order_id: payment.orderId,
    currency: payment.currency,
    created_at: refund.at,
    resource: JSON.stringify(refundView(refund, payment)),
    status: refund.status,
    amount_minor: String(refund.amountMinor),
    decimals: payment.decimals,
    network: refund.network,
    asset: refund.asset,
    destination: refund.destination,
    senders: refund.senders && JSON.stringify(refund.senders),
    after_height: refund.afterHeight,
    transfer_id: refund.transferId,
    claim_hash: refund.claim?.tokenHash,
    claim_on_page: refund.claim?.onPage,
    ended_at: refund.status === 'recorded' ? refund.at : refund.endedAt,
  }));

const postingRows = (payment: ExistingPayment): PostingRow[] =>
  payment.postings.map((line) => {
    const { refundId } = line;
    return postingRow(payment, line, refundId === undefined ? payment.txHash : findRefund(payment, refundId)?.txHash);
  });

type PostingRow = Record<(typeof POSTING_COLUMNS)[number][0], unknown>;

const postingRow = (
  payment: Pick<ExistingPayment, 'paymentId' | 'currency' | 'decimals' | 'createdAt'>,
  { entry, line, ...posting }: Posting,
  txHash?: string,
): PostingRow => ({
  id: `${payment.paymentId}_${String(entry).padStart(6, '0')}_${String(line).padStart(2, '0')}`,
  payment_id: payment.paymentId,
  merchant_id: posting.merchantId,
  order_id: posting.orderId,
  currency: payment.currency,
  account: posting.account,
  amount: fromMinor(posting.amountMinor, payment.decimals),
  event: posting.event,
  refund_id: posting.refundId,
  tx_hash: txHash,
  payment_created_at: payment.createdAt,
  created_at: posting.at,
});

/** A payment of the order that is received, or an orphan that is not refunded, other than `heldByOrder`; or one with a
 *  refund that is not settled, which is named then. */
export const unsettledPaymentOf = async (
  db: Queryable,
  orderId: string,
  heldByOrder: readonly string[],
): Promise<UnsettledPayment> => {
  const { rows } = await db.query<{ id: string; refund_id: string | null }>(
    `select payment.id, refund.id as refund_id
     from payments.payments as payment
     left join payments.refunds as refund on refund.payment_id = payment.id and refund.status in ('pending', 'sent')
     where payment.order_id = $1 and not payment.deleted
       and ((payment.status in ('received', 'orphan') and payment.id <> all($2)) or refund.id is not null)
     limit 1`,
    [orderId, heldByOrder],
  );
  const [found] = rows;
  return { payment_id: found?.id ?? null, ...(found?.refund_id && { refund_id: found.refund_id }) };
};

/** The ids of the payments of an order, oldest first. */
export const paymentIdsOf = async (db: Queryable, orderId: string): Promise<string[]> =>
  (await paymentsOfOrder(db, orderId)).map(({ id }) => id);

/** The payments of an order, oldest first. */
export const paymentsOfOrder = async (db: Queryable, orderId: string): Promise<{ id: string; createdAt: Date }[]> => {
  const { rows } = await db.query<{ id: string; created_at: Date }>(
    'select id, created_at from payments.payments where order_id = $1 and not deleted order by created_at, id',
    [orderId],
  );
  return rows.map((row) => ({ id: row.id, createdAt: row.created_at }));
};
