import { AppError } from '@cpg/core';
import type { FastifyInstance } from 'fastify';

/** Answers 405 and, in `Allow`, the methods there are, where a path exists and the method does not. Registered before the routes. */
export const refuseOtherMethods = (app: FastifyInstance): void => {
  const methodsByPath = new Map<string, Set<string>>();

  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    methodsByPath.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });

  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const path = request.url.split('?')[0]!;
    const methods = [...methodsByPath].flatMap(([url, its]) => (patternOf(url).test(path) ? [...its] : []));
    if (methods.length === 0) return;
    const allow = [...new Set(methods)].sort().join(', ');
    reply.header('allow', allow);
    throw new AppError('method_not_allowed', `${path} takes ${allow}, not ${request.method}`);
  });
};

/** `/v1/orders/:id/cancel` takes anything for `:id`, as the router does: whether there is such an id is not asked here. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll('.', '\\.')
      .replaceAll('*', '.*')
      .replace(/:[^/]+/g, '[^/]*')}$`,
  );
