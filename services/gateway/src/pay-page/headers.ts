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

export const wantsHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  !/\bapplication\/json\b/.test(accept) || /\btext\/html\b/.test(accept);
