import type { FastifyRequest } from 'fastify';
import { notFound, type ResourceName } from '../not-found.ts';

/** Throws 404 if the resource does not exist, or belongs to another merchant than the caller. A request without a key
 *  may use any. */
export const requireOwner = ({ caller }: FastifyRequest, resource: ResourceName, merchantId: string | null): void => {
  if (merchantId === null || (caller && caller.merchantId !== merchantId)) throw notFound(resource);
};
