import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

export interface RateLimits {
  /** Requests per API key, or per address without a key. */
  readonly requests: TokenBuckets;
  /** Failed authentications per network of a client. */
  readonly failures: TokenBuckets;
  /** Lookups of keys that were not verified before, per network of a client that had too many failures. */
  readonly lookups: TokenBuckets;
}

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
