import type { ConcurrencyLimit } from './concurrency-limit.ts';

/** How important a route is: creates are refused first, `health` never. A `stream` has limits of its own. */
export type LoadClass = 'create' | 'normal' | 'health' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: `normal`. */
    load?: LoadClass;
  }
}

/** Limits by the class of the route. */
export type LoadLimits = Partial<Record<LoadClass, ConcurrencyLimit>>;
