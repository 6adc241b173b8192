import { isUtf8 } from 'node:buffer';
import { AppError, invalidRequest } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';
import { parseExactJson } from './exact-json.ts';

/** Accepts uncompressed JSON bodies only. An empty body counts as no body, whatever its content type: many clients send
 *  `content-type: application/json` with every request, and `curl -d ''` sends a form. */
export const acceptJsonBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    body.length === 0 ? undefined : parseBody(body),
  );
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (body.length > 0) throw new AppError('unsupported_media_type', 'send the body as application/json');
  });
  app.addHook('preParsing', async ({ headers }, reply) => {
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    // Fastify refuses a malformed content type even if there is no body.
    if (!hasBody) delete headers['content-type'];
    const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
    if (encoding === 'identity') return;
    reply.header('accept-encoding', 'identity');
    throw new AppError(
      'unsupported_media_type',
      `the body has the content-encoding ${encoding}: send it uncompressed, without content-encoding`,
    );
  });
};

const parseBody = (body: Buffer): unknown => {
  // NUL bytes are valid UTF-8, but never part of JSON: the text is UTF-16 or UTF-32.
  if (!isUtf8(body) || body.includes(0)) {
    throw invalidRequest([{ path: 'body', message: 'is not UTF-8 text: encode the JSON as UTF-8' }]);
  }
  return parseExactJson(body.toString('utf8').replace(/^\ufeff/, ''));
};
