import type { FastifyInstance } from 'fastify';
import { MAX_PAGE } from '../list-query.ts';

/** Sets `Location` on responses that create a resource, also on repeated ones. Register it after the idempotency
 *  keys. */
export const addLocations = (app: FastifyInstance): void => {
  app.addHook('onSend', async (request, reply) => {
    const { creates } = request.routeOptions.config;
    if (creates !== undefined && reply.statusCode === 201)
      reply.header('location', creates.replace('{seed}', request.seed));
  });
};

/** Sets `Link` (RFC 8288) on pages of lists: `first`, `prev`, `next` and `last`. */
export const addPageLinks = (app: FastifyInstance): void => {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const links = linksOf(payload).map(([rel, parameter, value]) => {
      return `<${withParameter(request.url, parameter, value)}>; rel="${rel}"`;
    });
    if (links.length > 0) reply.header('link', links.join(', '));
    return payload;
  });
};

type Link = [rel: string, parameter: string, value: string | number];

const linksOf = (payload: unknown): Link[] => {
  const { items, page, totalPages, next } = Object(payload) as Record<string, unknown>;
  if (!Array.isArray(items)) return [];
  if (typeof next === 'string') return [['next', 'after', next]];
  if (typeof page !== 'number' || typeof totalPages !== 'number') return [];
  // No page after MAX_PAGE can be read.
  const last = Math.min(totalPages, MAX_PAGE);
  return [
    ['first', 'page', 1],
    ...(page > 1 && last > 0 ? ([['prev', 'page', Math.min(page - 1, last)]] satisfies Link[]) : []),
    ...(page < last ? ([['next', 'page', page + 1]] satisfies Link[]) : []),
    ...(totalPages > 0 && totalPages <= MAX_PAGE ? ([['last', 'page', totalPages]] satisfies Link[]) : []),
  ];
};

/** The same path and query with one other parameter. A relative reference stays right behind any proxy. */
const withParameter = (url: string, name: string, value: string | number): string => {
  const [path, query] = url.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set(name, String(value));
  return `${path}?${parameters.toString()}`;
};
