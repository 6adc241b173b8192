import type { ConcurrencyLimit } from './concurrency-limit.ts';

/** Under overload, `create` is refused first and `health` never. A `stream` has its own limits. */
export type LoadClass = 'create' | 'normal' | 'health' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: `normal`. */
    load?: LoadClass;
  }
}

/** Limits by the class of the route. */
export type LoadLimits = Partial<Record<LoadClass, ConcurrencyLimit>>;
