import { AppError } from '@cpg/core';
import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../keys/authenticator.ts';
import type { TokenBuckets } from '../limits/token-buckets.ts';
import { tooManyRequests } from './rate-limit.ts';

export interface ApiKeyOptions {
  readonly authenticator: Authenticator;
  /** Limits failed authentications, by address. */
  readonly failures: TokenBuckets;
  /** If false, a request without a key is accepted, and its `caller` is null. */
  readonly required: boolean;
}

/** Authenticates each request of `app` before its body is read. Returns 401 without a valid key. Returns 429 instead
 *  of 401 if the address had too many failures, until its bucket refills. Failures from the same address do not block a
 *  valid key, except a SCRYPT or ARGON2ID key whose secret is not verified yet. */
export const authenticate = (app: FastifyInstance, { authenticator, failures, required }: ApiKeyOptions): void => {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers['x-api-key'];
    if (key === undefined && !required) return;
    if (typeof key !== 'string') throw new AppError('unauthorized', 'x-api-key is missing');
    request.caller = await authenticator.authenticate(key, request.ip, {
      allowSlowHash: !failures.isEmpty(request.ip),
    });
    if (request.caller) return;
    const failureLimit = failures.consume(request.ip);
    if (failureLimit && !failureLimit.allowed) throw tooManyRequests(reply, failureLimit);
    throw new AppError('unauthorized', 'x-api-key is not valid in this environment or from this address');
  });
};
