import type { FastifyRequest } from 'fastify';

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

/** Lets a browser request style sheets before it reads the page. */
export const preloadStyles = (paths: readonly string[]) => ({
  link: paths.map((path) => `<${path}>; rel=preload; as=style`).join(', '),
});

/** Whether the page is not in a frame, so that Cross-Origin-Opener-Policy applies to it (ADR 21). */
export const isInTab = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['sec-fetch-dest'] === 'document';

export const wantsHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  !/\bapplication\/json\b/.test(accept) || /\btext\/html\b/.test(accept);
