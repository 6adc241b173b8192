import { AppError } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

/** Forbids caches to store the answers of `app`: they show secrets, personal data, or what only one key may read. */
export const forbidCaching = (app: FastifyInstance): void => {
  app.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
};

// One for all responses: building it costs more than all else of a short request.
const setHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"] },
  },
  crossOriginResourcePolicy: { policy: 'same-site' },
  referrerPolicy: { policy: 'no-referrer' },
});

/** Sets security headers on every response. The policy blocks all content: API responses are not pages, and pages set
 *  their own policy. */
export const addSecurityHeaders = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, done) => setHeaders(request.raw, reply.raw, () => done()));
};

/** Responds 405 with an `Allow` header when a path exists, but not for this method, and else 404. Both name the path
 *  that was meant, if there is one. Register it before the routes. */
export const answerMethodNotAllowed = (app: FastifyInstance): void => {
  const paths = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  app.addHook('onRoute', ({ url, method }) => {
    const path = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    paths.set(url, path);
    for (const each of [method].flat()) path.methods.add(each);
  });

  const methodsOf = (path: string) =>
    [...paths.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : []));
  /** A path with this method that differs by a slash, the version or a missing id; below `/sdk`, the file there. */
  const meantBy = (method: string, path: string): string | undefined => {
    const urls = [...paths].flatMap(([url, { methods }]) => (methods.has(method) ? [url] : []));
    return (
      meantPaths(path).find((each) => methodsOf(each).includes(method)) ??
      urls.find((url) => url.replace(/\/:\w+/g, '') === path)?.replace(/:(\w+)/g, '{$1}') ??
      (path.startsWith('/sdk') ? [...paths.keys()].find((url) => url.startsWith('/sdk/')) : undefined)
    );
  };

  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const path = request.url.split('?')[0]!;
    const meant = meantBy(request.method, path);
    const methods = methodsOf(path);
    if (methods.length === 0) {
      const advice = meant === undefined ? '/docs lists all endpoints' : `did you mean ${meant}?`;
      throw new AppError('not_found', `there is no endpoint ${request.method} ${path}: ${advice}`);
    }
    const allow = [...new Set(methods)].sort().join(', ');
    reply.header('allow', allow);
    const advice = meant === undefined ? '' : `: did you mean ${request.method} ${meant}?`;
    throw new AppError('method_not_allowed', `${path} allows ${allow}, not ${request.method}${advice}`);
  });
};

/** A path without its last slash, and with the version that all paths of merchants have. */
const meantPaths = (path: string): string[] => {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  return bare === '' ? [] : [bare, `/v1${bare}`];
};

/** Matches any text for a parameter such as `:id`, as the router does. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll('.', '\\.')
      .replaceAll('*', '.*')
      .replace(/:[^/]+/g, '[^/]*')}$`,
  );

/** Sets `Location` on responses that create a resource, also on repeated ones. Register it after the idempotency
 *  keys. */
export const addLocations = (app: FastifyInstance): void => {
  app.addHook('onSend', async (request, reply) => {
    const { creates } = request.routeOptions.config;
    if (creates !== undefined && reply.statusCode === 201)
      reply.header('location', creates.replace('{seed}', request.seed));
  });
};
