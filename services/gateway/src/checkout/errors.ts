import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PageAssets } from './view/assets.ts';
import { pageHeaders, wantsHtml } from './headers.ts';
import { speechOf } from './view/language.ts';
import { choiceLink, choiceOf, pageLink, type PageChoice } from './state/page-link.ts';
import { renderError } from './view/error-page.tsx';

/** Overload must not make browsers ask more often than this. */
const MIN_RETRY_SECONDS = 5;
const NOT_FOUND = 404;

/** Answers each error to browsers with a page in their language. Register it before the routes. */
export const answerErrorsWithPages = (app: FastifyInstance, assets: PageAssets): void => {
  const pageOf = (request: FastifyRequest, status: number, retryAfter: unknown): string =>
    renderError(status, {
      ...speechOf(request),
      assets,
      link: linkOf(request, status),
      retrySeconds: Math.max(MIN_RETRY_SECONDS, Number(retryAfter ?? 0)),
    });

  app.addHook('onRoute', (route) => {
    route.config = {
      ...route.config,
      unavailablePage: (request, retryAfter) =>
        wantsHtml(request) ? { html: pageOf(request, 503, retryAfter), headers: pageHeaders() } : null,
    };
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode < 400 || !wantsHtml(request)) return payload;
    // A refusal of an earlier hook does not have them yet.
    reply.headers(pageHeaders()).type('text/html; charset=utf-8').removeHeader('content-length');
    return pageOf(request, reply.statusCode, reply.getHeader('retry-after'));
  });
};

/** Links with other choices; a page that is not found does not name its reference. */
const linkOf = (request: FastifyRequest, status: number) => (changes: PageChoice) => {
  const { reference } = request.params as { reference?: string };
  const choice = { ...choiceOf(request.query), ...changes };
  return status === NOT_FOUND || reference === undefined ? choiceLink(choice) : pageLink(reference, choice);
};
