import { AppError } from '@cpg/contracts';
import { clientNetwork } from '@cpg/platform';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RateLimitResult, TokenBuckets } from './token-buckets.ts';

/** Limits requests by API key, or by the client's network when the request has no key; 429 once the bucket is empty. */
export const limitRequestRate = (app: FastifyInstance, buckets: TokenBuckets): void => {
  app.addHook('onRequest', async (request, reply) => {
    const result = buckets.consume(request.caller?.kid ?? clientNetwork(request.ip));
    if (!result) return;
    reply.headers({
      'ratelimit-limit': result.limit,
      'ratelimit-remaining': result.remaining,
      'ratelimit-reset': result.resetSeconds,
    });
    if (!result.allowed) throw tooManyRequests(reply, result);
  });
};

/** Sets `Retry-After` and returns the 429 error. */
export const tooManyRequests = (reply: FastifyReply, { retryAfterSeconds }: RateLimitResult): AppError => {
  reply.header('retry-after', retryAfterSeconds);
  return new AppError('rate_limited', 'too many requests');
};
