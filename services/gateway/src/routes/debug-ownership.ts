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

/** The same for an order. A crash of PostgreSQL can lose its row for a moment, so orders is asked where there is none. */
export const requireOwnerOfOrder = async (
  request: FastifyRequest,
  { pool, orders }: { readonly pool: Pool; readonly orders: Pick<OrdersClient, 'summary'> },
  id: string,
): Promise<void> => {
  const merchantId =
    (await merchantIdOfOrder(pool, id)) ?? (await orders.summary(id, callContext(request)))?.merchant_id;
  requireOwner(request, 'order', merchantId ?? null);
};
