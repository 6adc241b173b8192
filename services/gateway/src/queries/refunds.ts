import type { Refund } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import type { ListQuery } from '../list-query.ts';
import { mapPage, type Page, selectPage } from './page.ts';

export interface RefundFilters {
  readonly payment_id?: string | undefined;
  readonly order_id?: string | undefined;
  readonly currency?: string | undefined;
}

export const listRefunds = async (
  db: Queryable,
  merchantId: string,
  { payment_id, order_id, currency, ...list }: ListQuery & RefundFilters,
): Promise<Page<Refund>> => {
  const page = await selectPage<{ id: string; resource: Refund }>(db, {
    table: 'payments.refunds',
    columns: 'resource',
    where: [
      ['merchant_id =', merchantId],
      ['payment_id =', payment_id],
      ['order_id =', order_id],
      ['currency =', currency],
    ],
    list,
  });
  return mapPage(page, (row) => row.resource);
};

export const refundById = async (db: Queryable, merchantId: string, id: string): Promise<Refund | null> => {
  const { rows } = await db.query<{ resource: Refund }>(
    'select resource from payments.refunds where id = $1 and merchant_id = $2',
    [id, merchantId],
  );
  return rows[0]?.resource ?? null;
};
