import type { FastifyInstance } from 'fastify';
import { MAX_PAGE } from './list-query.ts';

/** Sets `Link` (RFC 8288) on pages of lists: `first`, `prev`, `next` and `last`. Without a page number in the request,
 *  `next` is a cursor, so that a client that follows it reads each item once. */
export const addPageLinks = (app: FastifyInstance): void => {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const links = linksOf(payload, request.url).map(([rel, parameter, value]) => {
      return `<${withParameter(request.url, parameter, value)}>; rel="${rel}"`;
    });
    if (links.length > 0) reply.header('link', links.join(', '));
    return payload;
  });
};

type Link = [rel: string, parameter: string, value: string | number];

const linksOf = (payload: unknown, url: string): Link[] => {
  const { items, page, totalPages, next_cursor: cursor } = Object(payload) as Record<string, unknown>;
  if (!Array.isArray(items)) return [];
  const byCursor: Link[] = typeof cursor === 'string' ? [['next', 'cursor', cursor]] : [];
  // A history has no page numbers.
  if (typeof page !== 'number' || typeof totalPages !== 'number') return byCursor;
  const requested = parametersOf(url);
  // No page after MAX_PAGE can be read.
  const last = Math.min(totalPages, MAX_PAGE);
  const byPage: Link[] = page < last ? [['next', 'page', page + 1]] : [];
  if (requested.has('cursor')) return [['first', 'page', 1], ...byCursor];
  return [
    ['first', 'page', 1],
    ...(page > 1 && last > 0 ? ([['prev', 'page', Math.min(page - 1, last)]] satisfies Link[]) : []),
    ...(byCursor.length > 0 && (!requested.has('page') || byPage.length === 0) ? byCursor : byPage),
    ...(totalPages > 0 && totalPages <= MAX_PAGE ? ([['last', 'page', totalPages]] satisfies Link[]) : []),
  ];
};

const parametersOf = (url: string): URLSearchParams => new URLSearchParams(url.split('?')[1]);

/** The same path and query with one other parameter. A relative reference stays right behind any proxy. */
const withParameter = (url: string, name: string, value: string | number): string => {
  const parameters = parametersOf(url);
  // A page has either a number or a cursor.
  if (name === 'page' || name === 'cursor') parameters.delete(name === 'page' ? 'cursor' : 'page');
  parameters.set(name, String(value));
  return `${url.split('?')[0]}?${parameters.toString()}`;
};
