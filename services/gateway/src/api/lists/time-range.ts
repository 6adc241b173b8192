import { invalidRequest } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';

/** Refuses a range of time that ends before it starts: an empty list would look as if nothing had happened then. The
 *  start is rounded up to a millisecond and the end down, so a range within one millisecond passes. */
export const refuseInvertedRanges = (app: FastifyInstance): void => {
  app.addHook('preHandler', async ({ query }) => {
    const { from_date: from, to_date: to } = query as { from_date?: Date; to_date?: Date };
    if (from && to && to.getTime() + 1 < from.getTime())
      throw invalidRequest([{ path: 'to_date', message: 'must not be before from_date' }]);
  });
};
