import { createHash } from 'node:crypto';
import { createAddressMatcher } from '@cpg/platform';
import { LRUCache } from 'lru-cache';
import type { KeyCaller } from '../request.ts';
import { type ApiKey, type KeyEnvironment, parseApiKey } from './api-key.ts';
import type { CredentialWithMerchant } from './credentials.ts';
import { isSlowHash, type KeyVerifier } from './hash.ts';
import type { KeyUse } from './last-used.ts';

export interface Authenticator {
  /** The environment of the keys that are valid. */
  readonly environment: KeyEnvironment;
  /** Returns the owner of `apiKey`. Returns null if the key is malformed, unknown, revoked, expired, of the other
   *  environment, or not allowed from `address`. */
  readonly authenticate: (apiKey: string, address: string, budget?: AuthenticationBudget) => Promise<KeyCaller | null>;
  /** The merchant of a key that was verified lately and is valid from `address`, without any wait; undefined for every
   *  other text. The key may be revoked since. */
  readonly merchantOf: (apiKey: string, address: string) => string | undefined;
}

/** Allows the costly parts of an authentication. A part that is not allowed fails it. */
export interface AuthenticationBudget {
  /** Whose budget it is. */
  readonly id: string;
  /** Called before the credential of a key is loaded that was not verified before. */
  readonly allowsLookup: () => boolean;
  /** Called before a SCRYPT or ARGON2ID hash is verified, which takes a lot of CPU time. */
  readonly allowsSlowHash: () => boolean;
}

export interface AuthenticatorOptions {
  readonly environment: KeyEnvironment;
  /** Whether `secret` matches the stored hash. */
  readonly verify: KeyVerifier;
  readonly findCredential: (kid: string) => Promise<CredentialWithMerchant | null>;
  /** Called after each successful authentication. */
  readonly onUse: (kid: string, use: KeyUse) => void;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  /** Maximum age of a cached credential. A revocation or a change takes effect within this time. */
  readonly cacheTtlMs?: number;
}

const CACHE_TTL_MS = 3_000;
// A new key that was used before it existed works after this time.
const REJECTION_TTL_MS = 1_000;
const CACHE_SIZE = 10_000;
const UNLIMITED: AuthenticationBudget = { id: '', allowsLookup: () => true, allowsSlowHash: () => true };

interface VerifiedKey {
  readonly credential: CredentialWithMerchant;
  readonly caller: KeyCaller;
  readonly isAllowedAddress: (address: string) => boolean;
  /** When the query for the credential was sent, by the monotonic clock. The age of the credential counts from this
   *  time and not from the response, because the response can be slow. */
  readonly requestedAt: number;
}

interface InFlightLookup {
  readonly requestedAt: number;
  readonly result: Promise<VerifiedKey | null>;
}

/** Creates the verifier of API keys. It caches verified keys by the SHA-256 of the key, so most requests need no query
 *  and no hashing of the secret. When a cache entry is older than `cacheTtlMs`, it loads the credential again. It
 *  verifies the secret again only if the stored hash has changed. It caches unknown keys and wrong secrets too, for one
 *  second. */
export const createAuthenticator = (options: AuthenticatorOptions): Authenticator => {
  const { environment, onUse, now, nowMs = () => performance.now(), cacheTtlMs = CACHE_TTL_MS } = options;
  const verifiedKeys = new LRUCache<string, VerifiedKey>({ max: CACHE_SIZE });
  /** When the lookup of a rejected key was sent. */
  const rejectedKeys = new LRUCache<string, number>({ max: CACHE_SIZE });
  const lookupsInFlight = new Map<string, InFlightLookup>();

  const ageOf = (requestedAt: number): number => nowMs() - requestedAt;
  const isFresh = ({ requestedAt }: { requestedAt: number }): boolean => ageOf(requestedAt) < cacheTtlMs;

  /** Concurrent requests with the same key and budget share one lookup, unless that lookup started `cacheTtlMs` ago or
   *  earlier. */
  const findVerifiedKey = (key: ApiKey, budget: AuthenticationBudget): Promise<VerifiedKey | null> => {
    const cacheKey = cacheKeyOf(key.text);
    const cached = verifiedKeys.get(cacheKey);
    if (cached && isFresh(cached)) return Promise.resolve(cached);
    if (ageOf(rejectedKeys.get(cacheKey) ?? -Infinity) < REJECTION_TTL_MS) return Promise.resolve(null);
    const lookupKey = `${cacheKey} ${budget.id}`;
    const shared = lookupsInFlight.get(lookupKey);
    if (shared && isFresh(shared)) return shared.result;
    if (!cached && !budget.allowsLookup()) return Promise.resolve(null);

    const updateCaches = (verified: VerifiedKey | null): void => {
      // Lookups can finish out of order. Keep the result of the latest started lookup.
      const current = verifiedKeys.get(cacheKey);
      if (verified && verified.requestedAt >= (current?.requestedAt ?? 0)) verifiedKeys.set(cacheKey, verified);
      if (verified) return;
      if (current === cached) verifiedKeys.delete(cacheKey);
      rejectedKeys.set(cacheKey, Math.max(requestedAt, rejectedKeys.get(cacheKey) ?? 0));
    };
    const requestedAt = nowMs();
    const lookup: InFlightLookup = {
      requestedAt,
      result: verifyKey(key, { ...options, requestedAt, cached, budget })
        .then((verified) => {
          if (verified === 'not allowed') return null;
          updateCaches(verified);
          return verified;
        })
        .finally(() => {
          if (lookupsInFlight.get(lookupKey) === lookup) lookupsInFlight.delete(lookupKey);
        }),
    };
    lookupsInFlight.set(lookupKey, lookup);
    return lookup.result;
  };

  const isValid = ({ credential, isAllowedAddress }: VerifiedKey, address: string): boolean =>
    isActive(credential, environment, now()) && isAllowedAddress(address);

  return {
    environment,
    merchantOf: (apiKey, address) => {
      const verified = verifiedKeys.peek(cacheKeyOf(apiKey));
      return verified && isValid(verified, address) ? verified.caller.merchantId : undefined;
    },
    authenticate: async (apiKey, address, budget = UNLIMITED) => {
      const key = parseApiKey(apiKey);
      if (!key || key.environment !== environment) return null;
      const verified = await findVerifiedKey(key, budget);
      if (!verified || !isValid(verified, address)) return null;
      onUse(key.kid, { at: now(), address });
      return verified.caller;
    },
  };
};

const cacheKeyOf = (apiKey: string): string => createHash('sha256').update(apiKey).digest('base64');

interface VerifyOptions extends Pick<AuthenticatorOptions, 'findCredential' | 'verify'> {
  readonly requestedAt: number;
  readonly cached: VerifiedKey | undefined;
  readonly budget: AuthenticationBudget;
}

/** Loads the credential of a key and verifies the secret of the key. Does not verify the secret if `cached` was
 *  verified against the same hash. Returns null for an unknown key or a wrong secret. */
const verifyKey = async (
  key: ApiKey,
  { findCredential, verify, requestedAt, cached, budget }: VerifyOptions,
): Promise<VerifiedKey | 'not allowed' | null> => {
  const credential = await findCredential(key.kid);
  if (!credential) return null;
  const hasSameHash = cached?.credential.secret_hash === credential.secret_hash;
  if (!hasSameHash && isSlowHash(credential.alg) && !budget.allowsSlowHash()) return 'not allowed';
  if (!hasSameHash && !(await verify(key.secret, credential))) return null;
  return {
    credential,
    caller: {
      by: 'key',
      actor: `key:${credential.kid}`,
      kid: credential.kid,
      keyId: credential.id,
      merchantId: credential.merchant_id,
      scopes: new Set(credential.scopes),
      paymentMethods: credential.payment_methods,
      isDisabled: credential.merchant_disabled_at !== null,
    },
    isAllowedAddress: credential.allowed_ips.length === 0 ? () => true : createAddressMatcher(credential.allowed_ips),
    requestedAt,
  };
};

const isActive = (credential: CredentialWithMerchant, environment: KeyEnvironment, now: Date): boolean =>
  credential.status === 'active' &&
  credential.environment === environment &&
  (credential.expires_at === null || now < credential.expires_at);
