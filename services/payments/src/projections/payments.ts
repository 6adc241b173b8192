import { fromMinor, type Refund } from '@cpg/contracts';
import { batchWriter, type Pool, type Queryable } from '@cpg/postgres';
import type { ExistingPayment } from '../payment/state.ts';
import { paymentText } from '../payment/text.ts';

export interface ProjectedPayment {
  readonly payment: ExistingPayment;
  readonly revision: number;
}

const LIVE_SCHEMA = 'payments';

// Skips rows that are deleted or up to date, with their refunds. Sorted ids prevent deadlocks.
const upsert = (schema: string) => `
  with projected as (
  insert into ${schema}.payments as row (id, merchant_id, order_id, status, currency, payment_rail, created_at, revision, resource)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::bigint[], $9::json[])
  order by 1
  on conflict (id) do update set status = excluded.status, revision = excluded.revision, resource = excluded.resource
  where row.revision < excluded.revision and not row.deleted
  returning id)
  insert into ${schema}.refunds (id, payment_id, merchant_id, order_id, currency, created_at, resource)
  select refund.* from unnest($10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::timestamptz[], $16::json[])
      as refund (id, payment_id, merchant_id, order_id, currency, created_at, resource)
    join projected on projected.id = refund.payment_id
  on conflict (id) do nothing`;

/** Upserts payments with their refunds. A row with the same or a later revision, or a deleted row, is not changed. */
export const projectPayments = async (
  db: Queryable,
  payments: readonly ProjectedPayment[],
  schema = LIVE_SCHEMA,
): Promise<void> => {
  if (payments.length === 0) return;
  const column = <T>(value: (projected: ProjectedPayment) => T) => payments.map(value);
  const refunds = payments.flatMap(({ payment }) => refundsOf(payment));
  const refundColumn = <T>(value: (refund: Refund) => T) => refunds.map(value);
  const values = [
    column(({ payment }) => payment.paymentId),
    column(({ payment }) => payment.merchantId),
    column(({ payment }) => payment.orderId),
    column(({ payment }) => payment.status),
    column(({ payment }) => payment.currency),
    column(({ payment }) => payment.rail),
    column(({ payment }) => payment.createdAt),
    column(({ revision }) => revision),
    column(({ payment }) => paymentText(payment)),
    refundColumn(({ id }) => id),
    refundColumn(({ payment_id }) => payment_id),
    refundColumn(({ merchant_id }) => merchant_id),
    refundColumn(({ order_id }) => order_id),
    refundColumn(({ currency }) => currency),
    refundColumn(({ created_at }) => created_at),
    refundColumn((refund) => JSON.stringify(refund)),
  ];
  await db.query({ name: `project-payments ${schema}`, text: upsert(schema), values });
};

/** Writes the row of a payment before the payment is answered, together with those of concurrent requests. */
export const paymentWriter = (pool: Pool) => {
  const write = batchWriter<ProjectedPayment & { readonly id: string }>((rows) => projectPayments(pool, rows));
  return (projected: ProjectedPayment): Promise<void> => write({ id: projected.payment.paymentId, ...projected });
};

const refundsOf = ({ refunds, paymentId, merchantId, orderId, currency }: ExistingPayment): Refund[] =>
  refunds.map(({ refundId, amountMinor, reason, at }) => ({
    id: refundId,
    merchant_id: merchantId,
    payment_id: paymentId,
    order_id: orderId,
    amount: fromMinor(amountMinor, currency),
    currency,
    ...(reason !== undefined && { reason }),
    created_at: at,
  }));

/** Deletes the refunds of a payment, and clears every column of the payment but its id. */
export const projectDeletion = async (db: Queryable, paymentId: string, schema = LIVE_SCHEMA): Promise<void> => {
  await db.query(
    `insert into ${schema}.payments (id, revision, deleted) values ($1, 0, true)
     on conflict (id) do update set merchant_id = null, order_id = null, status = null, currency = null, payment_rail = null,
       created_at = null, resource = null, revision = 0, deleted = true`,
    [paymentId],
  );
  // After the row is marked as deleted, no projection adds refunds again.
  await db.query(`delete from ${schema}.refunds where payment_id = $1`, [paymentId]);
};

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
