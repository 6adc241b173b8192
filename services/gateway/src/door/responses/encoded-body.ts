import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const ENCODINGS = ['br', 'gzip'] as const;

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
  const encoding = ENCODINGS.find((each) => new RegExp(`\\b${each}\\b`).test(accepted));
  if (encoding) reply.header('content-encoding', encoding);
  return reply.header('vary', 'accept-encoding').send(encoding ? encoded[encoding] : body);
};
