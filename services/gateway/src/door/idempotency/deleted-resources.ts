import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';

/** Whether the merchant had this order or webhook and deleted it. */
export const isDeleted = async (db: Queryable, merchantId: string, resourceId: string): Promise<boolean> => {
  const text = resourceId.startsWith('whk_')
    ? 'select from gateway.webhooks where id = $1 and merchant_id = $2 and deleted_at is not null'
    : 'select from orders.api_orders where id = $1 and merchant_id = $2 and deleted';
  const { rowCount } = await db.query(text, [resourceId, merchantId]);
  return rowCount === 1;
};

/** Deletes the stored responses that show an order or a webhook. A request that is still running stores none: this ends
 *  its lease. */
export const deleteResponsesOf = async (db: Queryable, merchantId: string, resourceId: string): Promise<void> => {
  await db.query(
    `update gateway.idempotency_keys set status = 410, answer = null, sealed = false, holder = null
      where resource_id = $2 and merchant_id = $1`,
    [merchantId, resourceId],
  );
};

/** Records that an order is about to be deleted, unless it is. Its stored responses are then deleted even if this
 *  process crashes, and a repeat of the request knows that the first one got no answer. */
export const recordOrderDeletion = async (db: Queryable, merchantId: string, orderId: string): Promise<void> => {
  await db.query(
    `insert into gateway.order_deletions (order_id, merchant_id)
     select id, merchant_id from orders.api_orders where id = $1 and merchant_id = $2 and not deleted
     on conflict (order_id) do update set started_at = now()`,
    [orderId, merchantId],
  );
};

/** Whether the merchant deleted this order by a request that may have got no answer, within the last two days. */
export const isDeletionUnanswered = async (db: Queryable, merchantId: string, orderId: string): Promise<boolean> => {
  const { rowCount } = await db.query(
    `select from gateway.order_deletions d join orders.api_orders o on o.id = d.order_id
      where d.order_id = $1 and d.merchant_id = $2 and o.merchant_id = $2 and o.deleted`,
    [orderId, merchantId],
  );
  return rowCount === 1;
};

/** Deletes the stored responses of an order if the order is deleted. Idempotent. Locks the record of the deletion first
 *  (ADR 32), and keeps it unless the request gets its answer. */
export const completeOrderDeletion = (
  pool: Pool,
  merchantId: string,
  orderId: string,
  { isAnswered }: { isAnswered: boolean },
): Promise<void> =>
  transaction(pool, async (db) => {
    if (!(await isDeleted(db, merchantId, orderId))) return;
    await db.query(
      isAnswered
        ? 'delete from gateway.order_deletions where order_id = $1'
        : 'update gateway.order_deletions set completed = true where order_id = $1',
      [orderId],
    );
    await deleteResponsesOf(db, merchantId, orderId);
  });

// Longer than stored responses are kept: later there is nothing to delete.
const ABANDONED_AFTER = '2 days';

/** Completes the deletions that crashed gateways or failed requests left behind. Returns their number. `endsBy` is the
 *  time by which their records end. */
export const completeCrashedDeletions = async (pool: Pool, endsBy: Date): Promise<number> => {
  const { rows } = await pool.query<{ order_id: string; merchant_id: string }>(
    `select d.order_id, d.merchant_id
       from gateway.order_deletions d join orders.api_orders o on o.id = d.order_id and o.merchant_id = d.merchant_id
      where o.deleted and not d.completed limit 1000`,
  );
  for (const { order_id: orderId, merchant_id: merchantId } of rows)
    await completeOrderDeletion(pool, merchantId, orderId, { isAnswered: false });
  await pool.query(
    `delete from gateway.order_deletions where started_at < least(now(), $1) - interval '${ABANDONED_AFTER}'`,
    [endsBy],
  );
  return rows.length;
};

/** The order of a payment; null for an unknown payment. */
export const orderIdOfPayment = async (db: Queryable, paymentId: string): Promise<string | null> => {
  const { rows } = await db.query<{ order_id: string | null }>(
    'select order_id from payments.api_payments where id = $1',
    [paymentId],
  );
  return rows[0]?.order_id ?? null;
};

/** The order of a refund; null when the refund does not exist or is deleted with its payment. */
export const orderIdOfRefund = async (db: Queryable, refundId: string): Promise<string | null> => {
  const { rows } = await db.query<{ order_id: string }>('select order_id from payments.api_refunds where id = $1', [
    refundId,
  ]);
  return rows[0]?.order_id ?? null;
};
