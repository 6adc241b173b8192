import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { OrdersClient } from '../orders/orders-client.ts';
import { notFound, type ResourceName } from '../not-found.ts';
import { type OwnedOrder, ownedOrder } from '../orders/order-queries.ts';
import { callContext } from '../../door/request.ts';

/** Throws 404 if the resource does not exist, or belongs to another merchant than the caller. A request without a key
 *  may use any. */
export const requireOwner = ({ caller }: FastifyRequest, resource: ResourceName, merchantId: string | null): void => {
  if (merchantId === null || (caller && caller.merchantId !== merchantId)) throw notFound(resource);
};

/** The same for an order. Asks orders if the row is missing: PostgreSQL can lose it in a crash. */
export const requireOwnerOfOrder = async (
  request: FastifyRequest,
  { pool, orders }: { readonly pool: Pool; readonly orders: Pick<OrdersClient, 'summary'> },
  id: string,
): Promise<OwnedOrder> => {
  const order = (await ownedOrder(pool, id)) ?? (await askOrders());
  requireOwner(request, 'order', order?.merchantId ?? null);
  return order!;

  async function askOrders(): Promise<OwnedOrder | null> {
    const summary = await orders.summary(id, callContext(request));
    return summary && { merchantId: summary.merchant_id, rails: summary.rails };
  }
};
