import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

const OPTIONS = {
  threshold: 1024,
  encodings: ['br', 'gzip'],
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
