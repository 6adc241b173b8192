import type { ConcurrencyLimit } from './concurrency-limit.ts';

/** Each class has a limit of its own, so that none can use up the room of another. Under overload, `create` is refused
 *  first and `health` never. `page` and `callback` are for payers and payment providers, who have no key; `keyless` is
 *  every other request without a verified key. A `stream` has its own limits. */
export type LoadClass = 'create' | 'normal' | 'page' | 'callback' | 'keyless' | 'health' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: `normal`. */
    load?: LoadClass;
  }
}

/** Limits by the class of the route. */
export type LoadLimits = Partial<Record<LoadClass, ConcurrencyLimit>>;
