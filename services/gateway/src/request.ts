import type { CallContext } from '@cpg/runtime';
import type { FastifyRequest } from 'fastify';
import type { Caller } from './keys/authenticator.ts';
import type { Scope } from './keys/scopes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent it; null where no key is needed and none was sent. */
    caller: Caller | null;
    /** The ULID that ids made by this request end in; the same for every repeat under one Idempotency-Key. */
    seed: string;
  }
  interface FastifyContextConfig {
    /** What the caller's key must be allowed to do. */
    scope?: Scope;
    /** The answer holds a secret: it is kept sealed. */
    answersSecret?: boolean;
  }
}

/** The caller of a route that needs a key. */
export const callerOf = (request: FastifyRequest): Caller => {
  if (!request.caller) throw new Error(`${request.routeOptions.url} is served without authentication`);
  return request.caller;
};

/** What the calls to other services say about this request. */
export const contextOf = (request: FastifyRequest): CallContext => ({
  actor: request.caller ? `key:${request.caller.kid}` : 'debug',
  requestId: request.id,
  correlationId: request.id,
});
