import { AppError } from '@cpg/contracts';
import type { FastifyRequest } from 'fastify';

/** Refuses a form of another site; clients that are no browsers send neither header. */
export const requireSameOrigin = ({ headers, host, protocol }: FastifyRequest): void => {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const isOwn =
    site === undefined ? origin === undefined || origin === `${protocol}://${host}` : site === 'same-origin';
  if (!isOwn) throw new AppError('insufficient_scope', 'only the payment page itself may send this form');
};
