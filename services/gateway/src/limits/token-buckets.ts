import { LRUCache } from 'lru-cache';

/** What is left after one request. Whole tokens; seconds are rounded up. */
export interface Turn {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly resetSeconds: number;
  /** Until the next request is let through; 0 when that is now. */
  readonly retrySeconds: number;
}

export interface TokenBuckets {
  /** Takes a token from the bucket of `id`; null when there is no limit. */
  readonly take: (id: string) => Turn | null;
  /** Whether the bucket of `id` has no token left. */
  readonly isEmpty: (id: string) => boolean;
}

const KEPT = 50_000;

/** Token buckets in memory: each holds at most `burst` and gains `perSecond`. 0 of either turns the limit off.
 *  `now` is in milliseconds and never goes back. */
export const tokenBuckets = ({
  perSecond,
  burst,
  now,
}: {
  perSecond: number;
  burst: number;
  now: () => number;
}): TokenBuckets => {
  if (perSecond === 0 || burst === 0) return { take: () => null, isEmpty: () => false };
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: KEPT });
  const level = (id: string, at: number): number => {
    const bucket = buckets.get(id);
    return bucket ? Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond) : burst;
  };
  return {
    take: (id) => {
      const at = now();
      const before = level(id, at);
      const allowed = before >= 1;
      const tokens = allowed ? before - 1 : before;
      buckets.set(id, { tokens, at });
      return {
        allowed,
        limit: burst,
        remaining: Math.floor(tokens),
        resetSeconds: Math.ceil((burst - tokens) / perSecond),
        retrySeconds: tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perSecond),
      };
    },
    isEmpty: (id) => level(id, now()) < 1,
  };
};
