import { AppError } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import { orderIdOfPayment } from './deleted-resources.ts';

const ID = /^(ord|pay|whk)_[0-9A-Z]{26}$/;

/** The id of the order or webhook that the response of a request will show; for a payment, of its order. `{seed}`
 *  stands for the seed of new ids. Null when the path has no valid id. */
export const shownResource = async (db: Queryable, request: FastifyRequest): Promise<string | null> => {
  const { id } = request.params as { id?: string };
  if (id === undefined) return request.routeOptions.config.shows === 'webhook' ? 'whk_{seed}' : 'ord_{seed}';
  if (!ID.test(id)) return null;
  return id.startsWith('pay_') ? orderIdOfPayment(db, id) : id;
};

/** The refusal of a repeated request whose order or webhook was deleted. */
export const goneError = (resourceId: string): AppError =>
  resourceId.startsWith('whk_')
    ? new AppError('webhook_deleted', 'the webhook of this request was deleted: use a new Idempotency-Key')
    : new AppError('order_deleted', 'the order of this request was deleted: use a new Idempotency-Key');
