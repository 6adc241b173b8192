import type { Refund } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { ListQuery } from '../lists/list-query.ts';
import { type Page, selectResources } from '../lists/page.ts';

export interface RefundFilters {
  readonly payment_id?: string | undefined;
  readonly order_id?: string | undefined;
  readonly currency?: string | undefined;
}

export const listRefunds = async (
  db: Queryable,
  merchantId: string,
  { payment_id, order_id, currency, ...list }: ListQuery & RefundFilters,
): Promise<Page<Refund>> =>
  selectResources<Refund>(db, {
    table: 'payments.api_refunds',
    owner: ['merchant_id', merchantId],
    filters: Object.entries({ payment_id, order_id, currency }),
    list,
    counts: { name: 'payments.api_refund_counts', keys: ['currency'] },
  });

export const refundById = async (db: Queryable, merchantId: string, id: string): Promise<Refund | null> => {
  const { rows } = await db.query<{ resource: Refund }>(
    'select resource from payments.api_refunds where id = $1 and merchant_id = $2',
    [id, merchantId],
  );
  return rows[0]?.resource ?? null;
};
