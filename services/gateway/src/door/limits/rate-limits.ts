import { AppError } from '@cpg/contracts';
import { clientNetwork } from '@cpg/platform';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';

/** The state of a bucket after one request. Whole tokens; seconds are rounded up. */
export interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the bucket is full. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed; 0 if it is allowed now. */
  readonly retryAfterSeconds: number;
}

export interface TokenBuckets {
  /** Takes a token from the bucket of `id`, if it has one. Null without a limit. */
  readonly consume: (id: string) => RateLimitResult | null;
  /** Whether the bucket of `id` has less than one token. Takes none. */
  readonly isEmpty: (id: string) => boolean;
  /** Puts a token back that turned out not to be due. */
  readonly refund: (id: string) => void;
}

/** Bounds the memory. A bucket that is evicted is full again, and the one used longest ago goes first. */
const MAX_BUCKETS = 50_000;

/** Token buckets in memory: each holds at most `burst` tokens and refills at `perSecond`. A value of 0 for either
 *  disables the limit. `now` is a monotonic clock in milliseconds. */
export const createTokenBuckets = ({
  perSecond,
  burst,
  now,
}: {
  perSecond: number;
  burst: number;
  now: () => number;
}): TokenBuckets => {
  if (perSecond === 0 || burst === 0) return { consume: () => null, isEmpty: () => false, refund: () => {} };
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: MAX_BUCKETS });
  const tokensAt = (id: string, at: number): number => {
    const bucket = buckets.get(id);
    return bucket ? Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond) : burst;
  };
  return {
    consume: (id) => {
      const at = now();
      const available = tokensAt(id, at);
      const allowed = available >= 1;
      const tokens = allowed ? available - 1 : available;
      buckets.set(id, { tokens, at });
      return {
        allowed,
        limit: burst,
        remaining: Math.floor(tokens),
        resetSeconds: Math.ceil((burst - tokens) / perSecond),
        retryAfterSeconds: tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perSecond),
      };
    },
    isEmpty: (id) => tokensAt(id, now()) < 1,
    refund: (id) => {
      const at = now();
      buckets.set(id, { tokens: Math.min(burst, tokensAt(id, at) + 1), at });
    },
  };
};

export interface RateLimits {
  /** Requests per API key or user. Without either, per network of the client. */
  readonly requests: TokenBuckets;
  /** Failed authentications per network of a client. */
  readonly failures: TokenBuckets;
  /** Lookups of keys that were not verified before, per network of a client that had too many failures. */
  readonly lookups: TokenBuckets;
}

/** Each lookup reads the database. A merchant behind a network with many failures still gets its keys verified. */
const LOOKUPS = { perSecond: 20, burst: 100 };

/** The rate limits of this process. A limit of 0 is no limit. */
export const createRateLimits = (limits: {
  perSecond: number;
  burst: number;
  failuresPerMinute: number;
}): RateLimits => {
  const { perSecond, burst, failuresPerMinute } = limits;
  const now = () => performance.now();
  return {
    requests: createTokenBuckets({ perSecond, burst, now }),
    failures: createTokenBuckets({ perSecond: failuresPerMinute / 60, burst: failuresPerMinute, now }),
    lookups: createTokenBuckets({ ...LOOKUPS, now }),
  };
};

/** Limits requests by API key or user, or by the client's network when the request has neither; 429 once the bucket is
 *  empty. */
export const limitRequestRate = (app: FastifyInstance, buckets: TokenBuckets): void => {
  app.addHook('onRequest', async (request, reply) => {
    const result = buckets.consume(request.caller?.actor ?? clientNetwork(request.ip));
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
