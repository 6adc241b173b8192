import { paymentView } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import type { ExistingPayment } from '../payment/state.ts';

export interface ProjectedPayment {
  readonly payment: ExistingPayment;
  readonly revision: number;
}

const LIVE_TABLE = 'payments.payments';

const upsert = (table: string) => `
  insert into ${table} as row (id, merchant_id, order_id, status, currency, payment_rail, created_at, revision, resource)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::bigint[], $9::json[])
  on conflict (id) do update set status = excluded.status, revision = excluded.revision, resource = excluded.resource
  where row.revision < excluded.revision and not row.deleted`;

/** Upserts payments. A row with the same or a later revision, or a deleted row, is not changed. */
export const projectPayments = async (
  db: Queryable,
  payments: readonly ProjectedPayment[],
  table = LIVE_TABLE,
): Promise<void> => {
  if (payments.length === 0) return;
  const column = <T>(value: (projected: ProjectedPayment) => T) => payments.map(value);
  await db.query(upsert(table), [
    column(({ payment }) => payment.paymentId),
    column(({ payment }) => payment.merchantId),
    column(({ payment }) => payment.orderId),
    column(({ payment }) => payment.status),
    column(({ payment }) => payment.currency),
    column(({ payment }) => payment.rail),
    column(({ payment }) => payment.createdAt),
    column(({ revision }) => revision),
    column(({ payment }) => JSON.stringify(paymentView(payment))),
  ]);
};

/** Clears every column of a payment but its id. */
export const projectDeletion = async (db: Queryable, paymentId: string, table = LIVE_TABLE): Promise<void> => {
  await db.query(
    `insert into ${table} (id, revision, deleted) values ($1, 0, true)
     on conflict (id) do update set merchant_id = null, order_id = null, status = null, currency = null, payment_rail = null,
       created_at = null, resource = null, revision = 0, deleted = true`,
    [paymentId],
  );
};

/** The payments of an order, oldest first. */
export const paymentsOfOrder = async (db: Queryable, orderId: string): Promise<{ id: string; createdAt: Date }[]> => {
  const { rows } = await db.query<{ id: string; created_at: Date }>(
    'select id, created_at from payments.payments where order_id = $1 and not deleted order by created_at, id',
    [orderId],
  );
  return rows.map((row) => ({ id: row.id, createdAt: row.created_at }));
};
