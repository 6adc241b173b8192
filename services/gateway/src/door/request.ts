import type { PaymentMethod } from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenSession } from '../identity/sessions.ts';
import type { Change } from '../audit/record-change.ts';
import type { Scope } from './keys/api-key.ts';

interface CallerOfMerchant {
  /** As the history of orders names it: `key:` and the kid of an API key, or `user:` and the id of a user. */
  readonly actor: string;
  readonly merchantId: string;
  readonly scopes: ReadonlySet<string>;
  readonly paymentMethods: readonly PaymentMethod[];
  /** Whether an operator disabled the merchant. */
  readonly isDisabled: boolean;
}

/** A program with an API key. */
export interface KeyCaller extends CallerOfMerchant {
  readonly by: 'key';
  readonly kid: string;
  /** The id of the key, `key_` and a ULID. */
  readonly keyId: string;
}

/** A person who signed in. */
export interface UserCaller extends CallerOfMerchant {
  readonly by: 'user';
  readonly session: OpenSession;
}

/** The authenticated sender of a request. */
export type Caller = KeyCaller | UserCaller;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for a request without a key to a route that needs none. */
    caller: Caller | null;
    /** For a POST, a ULID: ids that this request creates end in it. Repeats with the same Idempotency-Key have the same
     *  seed. */
    seed: string;
  }
  interface FastifyContextConfig {
    /** The scope that the caller needs. */
    scope?: Scope;
    /** The resource that the response of a POST shows. Its stored responses are deleted with it, except those that
     *  show an API key or a user: what they show is a secret that works once, or no longer. */
    shows?: 'order' | 'payment' | 'refund' | 'webhook' | 'api key' | 'user';
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

/** The change that a request of a key or a user makes. */
export const changeBy = (request: FastifyRequest, at: Date): Change => ({
  by: callerOf(request).actor,
  at,
  requestId: request.id,
  seed: request.seed || undefined,
});

/** The context that calls to other services carry: actor, request id and correlation id. */
export const callContext = (request: FastifyRequest): CallContext => ({
  actor: request.caller?.actor ?? 'debug',
  requestId: request.id,
  correlationId: request.id,
  // It changes when the client closes the connection.
  get deadlineMs() {
    return request.deadlineMs;
  },
});
