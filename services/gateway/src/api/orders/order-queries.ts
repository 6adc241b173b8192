import type { Order, PaymentRail } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { ListQuery } from '../lists/list-query.ts';
import { type Page, selectResources } from '../lists/page.ts';

export interface OrderFilters {
  readonly status?: string | undefined;
  readonly external_reference_id?: string | undefined;
  readonly currency?: string | undefined;
}

export const listOrders = async (
  db: Queryable,
  merchantId: string,
  { status, external_reference_id, currency, ...list }: ListQuery & OrderFilters,
): Promise<Page<Order>> =>
  selectResources<Order>(db, {
    table: 'orders.api_orders',
    owner: ['merchant_id', merchantId],
    only: 'not deleted',
    filters: Object.entries({ status, external_reference_id, currency }),
    list,
    counts: { name: 'orders.api_order_counts', keys: ['status', 'currency'] },
  });

export const orderById = async (db: Queryable, merchantId: string, id: string): Promise<Order | null> => {
  const { rows } = await db.query<{ resource: Order }>(
    'select resource from orders.api_orders where id = $1 and merchant_id = $2 and not deleted',
    [id, merchantId],
  );
  return rows[0]?.resource ?? null;
};

export interface OwnedOrder {
  readonly merchantId: string;
  /** The rails that the order enables. Empty while it has no instructions. */
  readonly rails: readonly PaymentRail[];
}

/** The merchant and rails of an order; null when the order does not exist or is deleted. */
export const ownedOrder = async (db: Queryable, id: string): Promise<OwnedOrder | null> => {
  const { rows } = await db.query<{ merchant_id: string; resource: Order }>(
    'select merchant_id, resource from orders.api_orders where id = $1 and not deleted',
    [id],
  );
  if (!rows[0]) return null;
  const { merchant_id: merchantId, resource } = rows[0];
  return { merchantId, rails: resource.deposit_instructions.map(({ rail }) => rail) };
};
