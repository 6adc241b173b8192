import type { FastifyRequest } from 'fastify';
import { notFound, type ResourceName } from '../not-found.ts';

/** Without a key the sandbox is everybody's; a key sees only what its merchant owns. */
export const mustOwn = ({ caller }: FastifyRequest, resource: ResourceName, owner: string | null): void => {
  if (owner === null || (caller && caller.merchantId !== owner)) throw notFound(resource);
};
