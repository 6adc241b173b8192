import { AppError } from '@cpg/core';
import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../keys/authenticator.ts';
import type { TokenBuckets } from '../limits/token-buckets.ts';
import { tooManyRequests } from './rate-limit.ts';

export interface ApiKeyOptions {
  readonly authenticator: Authenticator;
  /** Limits failed authentications, by address. */
  readonly failures: TokenBuckets;
  /** If false, a request without a key is served without a caller. */
  readonly required: boolean;
}

/** Authenticates each request of `app` before its body is read: 401 without a valid key. An address with too many
 *  failures gets 429 until its bucket refills. A valid key is never refused because of other failures from the same
 *  address. */
export const authenticate = (app: FastifyInstance, { authenticator, failures, required }: ApiKeyOptions): void => {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers['x-api-key'];
    if (key === undefined && !required) return;
    if (typeof key !== 'string') throw new AppError('unauthorized', 'x-api-key is missing');
    request.caller = await authenticator.authenticate(key, request.ip, failures.isEmpty(request.ip));
    if (request.caller) return;
    const failureLimit = failures.consume(request.ip);
    if (failureLimit && !failureLimit.allowed) throw tooManyRequests(reply, failureLimit);
    throw new AppError('unauthorized', 'x-api-key is not valid in this environment or from this address');
  });
};
