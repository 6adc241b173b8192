import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Compresses JSON responses of 1 KiB and more. Responses with a secret stay as they are: the length of a compressed
 *  response tells parts of it to those who can add text to it (BREACH). Register it before the routes. */
export const compressResponses = async (app: FastifyInstance): Promise<void> => {
  app.addHook('onRoute', (route) => {
    if (route.config?.responseHasSecret) route.compress = false;
  });
  // Node.js defines `Response` at its first use. If that is in the plugin, V8 may define it again
  // for each response: 20 KB that survive collections.
  void globalThis.Response;
  await app.register(compress, {
    threshold: 1024,
    encodings: ['br', 'gzip'],
    customTypes: /^application\/json/,
    globalDecompression: false,
  });
};
