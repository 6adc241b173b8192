import { randomBytes } from 'node:crypto';
import { extname } from 'node:path/posix';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { cached, noSuchFile } from '../checkout/looks.ts';
import { sendEncodedBody } from '../door/responses/compression.ts';
import { type Dashboard, NONCE } from './dashboard-files.ts';

/** What the page may load and do. Scripts come from files of ours alone. Mantine writes style sheets for its colors and
 *  for widths into the page: those with the nonce of the answer count, and no others. Styles of elements are set by
 *  script, which needs no permission. The frame is the preview of the payment page. */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');

const NONCE_BYTES = 16;
const hidden = { schema: { hide: true }, compress: false } as const;

/** Serves the dashboard under `/dashboard`. It has pages of its own: each path without a file name is the same page,
 *  whose script reads the address. */
export const dashboardRoutes = (app: FastifyInstance, { page, files }: Dashboard): void => {
  const [start = '', ...rest] = page.split(NONCE);
  const sendPage = (reply: FastifyReply) => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    return (
      reply
        // A copy in a cache would name files of an earlier version, and an old nonce.
        .headers({ 'content-security-policy': policyOf(nonce), 'cache-control': 'no-cache' })
        .type('text/html; charset=utf-8')
        .serializer((text: string) => text)
        .send([start, ...rest].join(nonce))
    );
  };

  app.get('/dashboard', hidden, async (_, reply) => sendPage(reply));
  app.get<{ Params: { '*': string } }>('/dashboard/*', hidden, async (request, reply) => {
    const path = request.params['*'];
    const file = files.get(path);
    if (file) {
      const sent = file.isHashed ? cached(reply) : reply.header('cache-control', 'no-cache');
      return sendEncodedBody(request, sent.type(file.type), await file.encoded());
    }
    // A file of an earlier version: a page in its place would run as a script.
    if (extname(path) !== '') throw noSuchFile();
    return sendPage(reply);
  });
};
