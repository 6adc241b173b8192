import type { CallContext } from '@cpg/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from './keys/api-key.ts';
import type { Caller } from './keys/authenticator.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated sender; null for a request without a key to a route that needs none. */
    caller: Caller | null;
    /** For a POST, a ULID: ids that this request creates end in it. Repeats with the same Idempotency-Key have the same
     *  seed. */
    seed: string;
  }
  interface FastifyContextConfig {
    /** The scope that the caller's key needs. */
    scope?: Scope;
    /** The resource that the response of a POST shows. Its stored responses are deleted with it; an API key is never
     *  deleted. */
    shows?: 'order' | 'payment' | 'refund' | 'webhook' | 'api key';
    /** `orders`: the first event of the order decides on repeats with an Idempotency-Key, and no response is stored. */
    keyDecidedBy?: 'orders';
    /** The path of the resource that a POST creates; `{seed}` stands for the seed of new ids. */
    creates?: string;
    /** The response contains a secret, so it is stored encrypted and never compressed. */
    responseHasSecret?: boolean;
  }
}

/** The caller of a request to a route that requires a key. */
export const callerOf = (request: FastifyRequest): Caller => {
  if (!request.caller) throw new Error(`${request.routeOptions.url} is served without authentication`);
  return request.caller;
};

/** Whether the answer can still reach the client: it has not closed the connection, and the request has not timed
 *  out. */
export const canAnswer = ({ raw }: FastifyReply): boolean => !raw.destroyed && !raw.headersSent;

/** The context that calls to other services carry: actor, request id and correlation id. */
export const callContext = (request: FastifyRequest): CallContext => ({
  actor: request.caller ? `key:${request.caller.kid}` : 'debug',
  requestId: request.id,
  correlationId: request.id,
  // It changes when the client closes the connection.
  get deadlineMs() {
    return request.deadlineMs;
  },
});
