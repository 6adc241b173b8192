import { AppError } from '@cpg/core';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { TokenBuckets, Turn } from '../limits/token-buckets.ts';

/** Lets each key (or, where none was sent, each address) through as often as its bucket has tokens; 429 otherwise. */
export const limitRate = (app: FastifyInstance, buckets: TokenBuckets): void => {
  app.addHook('onRequest', async (request, reply) => {
    const turn = buckets.take(request.caller?.kid ?? request.ip);
    if (!turn) return;
    reply.headers({
      'ratelimit-limit': turn.limit,
      'ratelimit-remaining': turn.remaining,
      'ratelimit-reset': turn.resetSeconds,
    });
    if (!turn.allowed) throw tooManyRequests(reply, turn);
  });
};

export const tooManyRequests = (reply: FastifyReply, turn: Turn): AppError => {
  reply.header('retry-after', turn.retrySeconds);
  return new AppError('rate_limited', 'too many requests');
};
