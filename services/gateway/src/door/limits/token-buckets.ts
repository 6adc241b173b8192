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
  /** Takes a token from the bucket of `id`, if there is one; null when there is no limit. */
  readonly consume: (id: string) => RateLimitResult | null;
  /** Whether the bucket of `id` has less than one token. */
  readonly isEmpty: (id: string) => boolean;
  /** Puts a consumed token back. */
  readonly refund: (id: string) => void;
}

const MAX_BUCKETS = 50_000;

/** Token buckets in memory: each holds at most `burst` tokens and refills at `perSecond`. A value of 0 for either
 *  disables the limit.
 *  `now` is a monotonic clock in milliseconds. */
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
