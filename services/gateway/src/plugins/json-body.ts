import type { FastifyInstance } from 'fastify';

/** Accepts JSON bodies only. An empty body counts as no body: many clients send `content-type: application/json` with
 *  every request. */
export const acceptJsonBodies = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, body as string, done);
  });
};
