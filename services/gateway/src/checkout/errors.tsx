import type { FastifyInstance, FastifyRequest } from 'fastify';
import { choiceLink, choiceOf, type PageChoice, type PageParams, pagePathOf } from './state/page-link.ts';
import type { PageAssets } from './view/assets.ts';
import { renderDocument } from './view/document.tsx';
import { type Speech, speechOf } from './view/language.ts';

/** Overload must not make browsers ask more often than this. */
const MIN_RETRY_SECONDS = 5;
const NOT_FOUND = 404;

/** Answers each error to browsers with a page in their language. Register it before the routes. */
export const answerErrorsWithPages = (app: FastifyInstance, assets: PageAssets): void => {
  const pageOf = (request: FastifyRequest, status: number, retryAfter: unknown): string =>
    renderError(status, {
      ...speechOf(request),
      assets,
      isOfClaim: isOfClaim(request.params as PageParams),
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

/** Only the routes of claim links have these parameters. */
const isOfClaim = ({ token, claim }: PageParams = {}): boolean => token !== undefined || claim !== undefined;

/** Links with other choices; a page that is not found does not name its reference. */
const linkOf = (request: FastifyRequest, status: number) => (changes: PageChoice) => {
  const path = status === NOT_FOUND ? undefined : pagePathOf(request.params as PageParams);
  return `${path ?? ''}${choiceLink({ ...choiceOf(request.query), ...changes })}`;
};

/** The headers of a page that sites of `frameAncestors` may show in a frame. */
export const pageHeaders = (frameAncestors: readonly string[] = []) => ({
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
  ].join('; '),
  'cache-control': 'no-store',
  vary: 'accept, accept-language',
});

export const wantsHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  !/\bapplication\/json\b/.test(accept) || /\btext\/html\b/.test(accept);

interface ErrorProps extends Speech {
  readonly assets: PageAssets;
  /** Whether the request is about a claim link. */
  readonly isOfClaim: boolean;
  /** A link to the page with another choice. */
  readonly link: (choice: PageChoice) => string;
  /** When the browser asks again, unless the page is not there. */
  readonly retrySeconds: number;
}

const TOO_MANY = 429;

/** The page of an error. It names neither the merchant nor the order. */
const renderError = (status: number, { assets, isOfClaim, link, retrySeconds, ...speech }: ErrorProps): string => {
  const { texts, format } = speech;
  const isPassing = status === TOO_MANY || status >= 500;
  const time = format.seconds(retrySeconds);
  const missing = isOfClaim && status === NOT_FOUND ? texts.claim : texts;
  const [title, text] = !isPassing
    ? [missing.notFoundTitle, missing.notFound]
    : status === TOO_MANY
      ? [texts.tooManyTitle, texts.tooMany(time)]
      : [texts.unavailableTitle, texts.unavailable(time)];
  return renderDocument({
    ...speech,
    title,
    assets,
    languageLink: (lang) => link({ lang }),
    reload: isPassing ? { seconds: retrySeconds, url: link({}) } : null,
    header: null,
    children: (
      <main id="payment" data-version={isPassing ? undefined : 'none'} tabindex={-1}>
        <section class="status">
          <h1>{title}</h1>
          <p>{text}</p>
          {isPassing && (
            <p>
              <a class="button" href={link({})} data-retry-seconds={retrySeconds}>
                {texts.retryNow}
              </a>
            </p>
          )}
        </section>
      </main>
    ),
  });
};
