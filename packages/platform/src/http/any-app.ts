import type { FastifyInstance } from 'fastify';

/** A Fastify instance with any type provider. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type provider differs from plugin to plugin
export type AnyApp = FastifyInstance<any, any, any, any, any>;
