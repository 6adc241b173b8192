import { AppError } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';

/** Responds 405 with an `Allow` header when a path exists, but not for this method. Register it before the routes. */
export const answerMethodNotAllowed = (app: FastifyInstance): void => {
  const methodsByPath = new Map<string, Set<string>>();

  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    methodsByPath.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });

  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const path = request.url.split('?')[0]!;
    const methods = [...methodsByPath].flatMap(([url, known]) => (patternOf(url).test(path) ? [...known] : []));
    if (methods.length === 0) return;
    const allow = [...new Set(methods)].sort().join(', ');
    reply.header('allow', allow);
    throw new AppError('method_not_allowed', `${path} allows ${allow}, not ${request.method}`);
  });
};

/** Matches any text for a parameter such as `:id`, as the router does. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll('.', '\\.')
      .replaceAll('*', '.*')
      .replace(/:[^/]+/g, '[^/]*')}$`,
  );
