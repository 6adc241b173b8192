import { AppError } from '@cpg/core';
import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../keys/authenticator.ts';
import type { TokenBuckets } from '../limits/token-buckets.ts';
import { tooManyRequests } from './rate-limit.ts';

export interface ApiKeyOptions {
  readonly authenticator: Authenticator;
  /** Failed authentications by address. */
  readonly failures: TokenBuckets;
  /** Without it a request that sends no key goes on as nobody's. */
  readonly required: boolean;
}

/** Asks who sends each request of `app`, before its body is read: 401 without a good key. An address that failed too often hears
 *  429 instead until its bucket fills again; a good key is never refused for what others tried from the same address. */
export const authenticate = (app: FastifyInstance, { authenticator, failures, required }: ApiKeyOptions): void => {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers['x-api-key'];
    if (key === undefined && !required) return;
    if (typeof key !== 'string') throw new AppError('unauthorized', 'x-api-key is missing');
    request.caller = await authenticator.authenticate(key, request.ip, failures.isEmpty(request.ip));
    if (request.caller) return;
    const turn = failures.take(request.ip);
    if (turn && !turn.allowed) throw tooManyRequests(reply, turn);
    throw new AppError('unauthorized', 'x-api-key is not a key of this environment that is good for this address now');
  });
};
