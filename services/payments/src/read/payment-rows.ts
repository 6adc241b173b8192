import { dueBackMinor, paymentView, type Refund, refundView } from '@cpg/contracts';
import { batchWriter, type Pool, type Queryable } from '@cpg/platform/postgres';
import type { ExistingPayment } from '../payment/state.ts';

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
  insert into ${schema}.payments as row (id, merchant_id, order_id, status, currency, payment_rail, due_back, created_at, revision, resource, tx_hash, deleted)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bool[], $8::timestamptz[], $9::bigint[], $10::json[],
    $11::text[], $12::bool[])
  order by 1
  on conflict (id) do update set merchant_id = excluded.merchant_id, order_id = excluded.order_id, status = excluded.status,
    currency = excluded.currency, payment_rail = excluded.payment_rail, due_back = excluded.due_back, created_at = excluded.created_at,
    revision = excluded.revision, resource = excluded.resource, tx_hash = excluded.tx_hash, deleted = excluded.deleted
  where not row.deleted and (row.revision < excluded.revision or excluded.deleted)
  returning id)
  insert into ${schema}.refunds (id, payment_id, merchant_id, order_id, currency, created_at, resource)
  select refund.* from unnest($13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::timestamptz[], $19::json[])
      as refund (id, payment_id, merchant_id, order_id, currency, created_at, resource)
    join projected on projected.id = refund.payment_id
  on conflict (id) do nothing`;

/** Upserts payments with their refunds, each once. Clears every column of a deleted payment but its id, and deletes its
 *  refunds: run that in a transaction. A row with the same or a later revision, or a deleted row, is not changed. */
export const projectPayments = async (
  db: Queryable,
  payments: readonly ProjectedPayment[],
  schema = LIVE_SCHEMA,
): Promise<void> => {
  if (payments.length === 0) return;
  const column = <T>(value: (projected: ProjectedPayment) => T) => payments.map(value);
  const existing = <T>(value: (payment: ExistingPayment) => T) =>
    column(({ payment }) => (payment.status === 'deleted' ? null : value(payment)));
  const refunds = existing(refundsOf).flatMap((ofPayment) => ofPayment ?? []);
  const refundColumn = <T>(value: (refund: Refund) => T) => refunds.map(value);
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
    existing((payment) => JSON.stringify(paymentView(payment))),
    existing(({ txHash }) => txHash),
    column(({ payment }) => payment.status === 'deleted'),
    refundColumn(({ id }) => id),
    refundColumn(({ payment_id }) => payment_id),
    refundColumn(({ merchant_id }) => merchant_id),
    refundColumn(({ order_id }) => order_id),
    refundColumn(({ currency }) => currency),
    refundColumn(({ created_at }) => created_at),
    refundColumn((refund) => JSON.stringify(refund)),
  ];
  await db.query({ name: `project-payments ${schema}`, text: upsert(schema), values });
  const deleted = payments.flatMap(({ payment }) => (payment.status === 'deleted' ? payment.paymentId : []));
  if (deleted.length === 0) return;
  // A statement of its own sees the refunds that were added until the rows were locked.
  await db.query(`delete from ${schema}.refunds where payment_id = any($1)`, [deleted]);
};

/** Writes the row of a payment before the payment is answered, together with those of concurrent requests. */
export const paymentWriter = (pool: Pool) => {
  const write = batchWriter<ProjectedPayment & { readonly id: string }>((rows) => projectPayments(pool, rows));
  return (projected: ProjectedPayment): Promise<void> => write({ id: projected.payment.paymentId, ...projected });
};

const refundsOf = (payment: ExistingPayment): Refund[] => payment.refunds.map((refund) => refundView(refund, payment));

/** A payment of the order that is received, or an orphan that is not refunded, other than `heldByOrder`. */
export const unsettledPaymentOf = async (
  db: Queryable,
  orderId: string,
  heldByOrder: readonly string[],
): Promise<string | null> => {
  const { rows } = await db.query<{ id: string }>(
    `select id from payments.payments
     where order_id = $1 and not deleted and status in ('received', 'orphan') and id <> all($2) limit 1`,
    [orderId, heldByOrder],
  );
  return rows[0]?.id ?? null;
};

/** The payments of an order, oldest first. */
export const paymentsOfOrder = async (db: Queryable, orderId: string): Promise<{ id: string; createdAt: Date }[]> => {
  const { rows } = await db.query<{ id: string; created_at: Date }>(
    'select id, created_at from payments.payments where order_id = $1 and not deleted order by created_at, id',
    [orderId],
  );
  return rows.map((row) => ({ id: row.id, createdAt: row.created_at }));
};
