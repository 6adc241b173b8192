import { type Order, OrderStatus } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import type { ListQuery } from '../list-query.ts';
import type { CountTable } from './counts.ts';
import { type Page, selectResources } from './page.ts';

export interface OrderFilters {
  readonly status?: string | undefined;
  readonly external_reference_id?: string | undefined;
  readonly currency?: string | undefined;
}

const COUNTS: CountTable = {
  name: 'orders.order_counts',
  totals: 'orders.order_totals',
  keys: ['currency'],
  statuses: OrderStatus.options,
};

export const listOrders = async (
  db: Queryable,
  merchantId: string,
  { status, external_reference_id, currency, ...list }: ListQuery & OrderFilters,
): Promise<Page<Order>> =>
  selectResources<Order>(db, {
    table: 'orders.orders',
    owner: ['merchant_id', merchantId],
    only: 'not deleted',
    filters: Object.entries({ status, external_reference_id, currency }),
    list,
    counts: COUNTS,
  });

export const orderById = async (db: Queryable, merchantId: string, id: string): Promise<Order | null> => {
  const { rows } = await db.query<{ resource: Order }>(
    'select resource from orders.orders where id = $1 and merchant_id = $2 and not deleted',
    [id, merchantId],
  );
  return rows[0]?.resource ?? null;
};

/** The merchant of an order; null when the order does not exist or is deleted. */
export const merchantIdOfOrder = async (db: Queryable, id: string): Promise<string | null> => {
  const { rows } = await db.query<{ merchant_id: string }>(
    'select merchant_id from orders.orders where id = $1 and not deleted',
    [id],
  );
  return rows[0]?.merchant_id ?? null;
};
