import { metadataHash, type Order, type PaymentRail } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { Filter } from '../lists/cursor.ts';
import type { ListQuery, TimeRanges } from '../lists/list-query.ts';
import { createdUntil, oneOrSeveral, type Page, selectResources, timeFilters } from '../lists/page.ts';
import { readSearch } from './order-search.ts';

export interface OrderFilters extends TimeRanges<'updated'> {
  readonly status?: readonly string[] | undefined;
  readonly external_reference_id?: string | undefined;
  readonly currency?: string | undefined;
  readonly search?: string | undefined;
  /** One key and its value. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** In `currency`. */
  readonly min_amount?: string | undefined;
}

/** One page of a merchant's orders. Throws `invalid_request` for a text that `search` cannot be. */
export const listOrders = async (
  db: Queryable,
  merchantId: string,
  { status, external_reference_id, currency, search, metadata, min_amount, ...list }: ListQuery & OrderFilters,
): Promise<Page<Order>> => {
  const owner = ['merchant_id', merchantId] as const;
  const [entry] = Object.entries(metadata ?? {});
  const hash = entry && metadataHash(...entry);
  const found = search === undefined ? undefined : readSearch(search);
  const total = found?.by === 'total' ? found : undefined;
  const filters: Filter[] = [
    ['status', oneOrSeveral(status)],
    ['external_reference_id', external_reference_id],
    ['currency', currency],
    ['currency', total && oneOrSeveral(total.currencies)],
    ['total_amount', total?.amount],
    ['min_amount', min_amount, (place) => `total_amount >= ${place}::numeric`],
    ...timeFilters('updated', list),
    ...(found?.by === 'name' ? [found.filter] : []),
  ];
  const isByMetadataAlone = hash !== undefined && filters.every(([, value]) => value === undefined);
  if (isByMetadataAlone)
    return selectResources<Order>(db, {
      ...{ table: 'orders.api_orders', source: 'orders.api_order_metadata', owner, list },
      ...{ filters: [['hash', hash]], ordered: [['hash']] },
    });
  return selectResources<Order>(db, {
    ...{ table: 'orders.api_orders', owner, only: 'not deleted', list: createdUntil(list, [list.updated_to]) },
    filters: [...filters, ['metadata', hash, hasMetadata]],
    counts: { name: 'orders.api_order_counts', keys: ['status', 'currency'] },
    ordered: [['currency', 'total_amount']],
    isById: found?.by === 'name',
  });
};

const hasMetadata = (hash: string, owner: string): string =>
  `(created_at, id) in (select created_at, id from orders.api_order_metadata where merchant_id = ${owner} and hash = ${hash})`;

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
