import { invalidRequest } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';

/** Refuses every query parameter of the routes that take none: a misspelled one must not look as if it had an effect.
 *  The schemas of the other routes refuse those that they do not know. */
export const refuseUnknownParameters = (app: FastifyInstance): void => {
  app.addHook('preValidation', async ({ query, routeOptions: { schema } }) => {
    if (schema?.querystring) return;
    const names = Object.keys(query as object);
    if (names.length > 0)
      throw invalidRequest(names.map((path) => ({ path, message: 'is not known: this request takes no parameters' })));
  });
};
