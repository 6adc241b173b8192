import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const ENCODINGS = ['br', 'gzip'] as const;
const PATTERNS = { br: /\bbr\b/, gzip: /\bgzip\b/ };

const OPTIONS = {
  threshold: 1024,
  encodings: [...ENCODINGS],
  customTypes: /^application\/json/,
} satisfies FastifyCompressOptions;

/** `compress` of a route with pages of some KiB: the way through the threads of zlib takes longer than the work. */
export const AT_ONCE = { ...OPTIONS, syncThreshold: 64 * 1024 } satisfies FastifyCompressOptions;

/** Compresses JSON responses of 1 KiB and more. Responses with a secret stay as they are: the length of a compressed
 *  response tells parts of it to those who can add text to it (BREACH). Register it before the routes. */
export const compressResponses = async (app: FastifyInstance): Promise<void> => {
  app.addHook('onRoute', (route) => {
    if (route.config?.responseHasSecret) route.compress = false;
  });
  // Node.js defines `Response` at its first use. If that is in the plugin, V8 may define it again
  // for each response: 20 KB that survive collections.
  void globalThis.Response;
  await app.register(compress, { ...OPTIONS, globalDecompression: false });
};

/** A body and what it is in each content encoding. */
export interface EncodedBody {
  readonly body: Buffer;
  readonly encoded: Readonly<Record<(typeof ENCODINGS)[number], Buffer>>;
}

/** Compresses a body that many requests get, so that none of them has to. */
export const encodeBody = async (body: Buffer): Promise<EncodedBody> => {
  const [br, gzipped] = await Promise.all([promisify(brotliCompress)(body), promisify(gzip)(body)]);
  return { body, encoded: { br, gzip: gzipped } };
};

/** Sends the body in an encoding that the client accepts. Its route needs `compress: false`. */
export const sendEncodedBody = (request: FastifyRequest, reply: FastifyReply, { body, encoded }: EncodedBody) => {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const encoding = ENCODINGS.find((each) => PATTERNS[each].test(accepted));
  if (encoding) reply.header('content-encoding', encoding);
  return reply.header('vary', 'accept-encoding').send(encoding ? encoded[encoding] : body);
};
