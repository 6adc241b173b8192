import type { Pool } from '@cpg/postgres';
import type { FastifyRequest } from 'fastify';
import type { OrdersClient } from '../clients/orders.ts';
import { notFound, type ResourceName } from '../not-found.ts';
import { merchantIdOfOrder } from '../queries/orders.ts';
import { callContext } from '../request.ts';

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
): Promise<void> => {
  const merchantId =
    (await merchantIdOfOrder(pool, id)) ?? (await orders.summary(id, callContext(request)))?.merchant_id;
  requireOwner(request, 'order', merchantId ?? null);
};
