import type { FastifyInstance } from 'fastify';

/** Forbids caches to store the answers of `app`: they show secrets, personal data, or what only one key may read. */
export const forbidCaching = (app: FastifyInstance): void => {
  app.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
};
