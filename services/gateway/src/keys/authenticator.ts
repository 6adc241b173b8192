import { createHash } from 'node:crypto';
import type { PaymentMethod } from '@cpg/contracts';
import { createAddressMatcher } from '@cpg/runtime';
import { LRUCache } from 'lru-cache';
import type { CredentialWithMerchant } from '../queries/credentials.ts';
import { type ApiKey, type KeyEnvironment, parseApiKey } from './api-key.ts';
import { isExpensive, type SecretHash } from './hash.ts';

/** The authenticated sender of a request. */
export interface Caller {
  readonly kid: string;
  readonly merchantId: string;
  readonly scopes: ReadonlySet<string>;
  readonly paymentMethods: readonly PaymentMethod[];
}

export interface Authenticator {
  /** The caller that the key `text` belongs to. Null when the key is malformed, unknown, revoked, expired, of the other
   *  environment, or not allowed from `address`. With `skipExpensive`, a key with an expensive hash is refused unless
   *  its secret is already verified. */
  readonly authenticate: (text: string, address: string, skipExpensive?: boolean) => Promise<Caller | null>;
}

export interface AuthenticatorOptions {
  readonly environment: KeyEnvironment;
  /** Whether `secret` matches the stored hash. */
  readonly verify: (secret: string, stored: SecretHash) => Promise<boolean>;
  readonly findCredential: (kid: string) => Promise<CredentialWithMerchant | null>;
  readonly onUse: (kid: string, at: Date) => void;
  readonly now: () => Date;
  /** How long a credential is served from the cache. A revocation takes effect within this time. */
  readonly cacheTtlMs?: number;
}

const CACHE_TTL_MS = 3_000;
const CACHE_SIZE = 10_000;

interface VerifiedKey {
  readonly credential: CredentialWithMerchant;
  readonly caller: Caller;
  readonly isAllowedAddress: (address: string) => boolean;
  /** When the query for the credential was sent, in milliseconds. Its age counts from here: the response may be
   *  slow. */
  readonly requestedAt: number;
}

interface Lookup {
  readonly requestedAt: number;
  readonly result: Promise<VerifiedKey | null>;
}

/** Verifies API keys. Verified keys are cached by the SHA-256 of the key, so most requests need no query and no key
 *  derivation. When the cache entry is too old, the credential is loaded again, and the secret is verified again only
 *  if the stored hash has changed. */
export const createAuthenticator = (options: AuthenticatorOptions): Authenticator => {
  const { environment, onUse, now, cacheTtlMs = CACHE_TTL_MS } = options;
  const cache = new LRUCache<string, VerifiedKey>({ max: CACHE_SIZE });
  const inFlight = new Map<string, Lookup>();

  const isFresh = ({ requestedAt }: { requestedAt: number }): boolean => now().getTime() - requestedAt < cacheTtlMs;

  /** Concurrent requests with the same key share one lookup, unless that lookup has been in flight for too long. */
  const lookUp = (key: ApiKey, skipExpensive: boolean): Promise<VerifiedKey | null> => {
    const cacheKey = createHash('sha256').update(key.text).digest('base64');
    const cached = cache.get(cacheKey);
    if (cached && isFresh(cached)) return Promise.resolve(cached);
    const lookupKey = `${cacheKey} ${skipExpensive}`;
    const shared = inFlight.get(lookupKey);
    if (shared && isFresh(shared)) return shared.result;

    const store = (verified: VerifiedKey | null): void => {
      // Lookups can finish out of order: the one that started last wins.
      const current = cache.get(cacheKey);
      if (verified && verified.requestedAt >= (current?.requestedAt ?? 0)) cache.set(cacheKey, verified);
      if (!verified && current === cached) cache.delete(cacheKey);
    };
    const requestedAt = now().getTime();
    const lookup: Lookup = {
      requestedAt,
      result: verifyKey(key, { ...options, requestedAt, cached, skipExpensive })
        .then((verified) => {
          store(verified);
          return verified;
        })
        .finally(() => {
          if (inFlight.get(lookupKey) === lookup) inFlight.delete(lookupKey);
        }),
    };
    inFlight.set(lookupKey, lookup);
    return lookup.result;
  };

  return {
    authenticate: async (text, address, skipExpensive = false) => {
      const key = parseApiKey(text);
      if (!key || key.environment !== environment) return null;
      const verified = await lookUp(key, skipExpensive);
      if (!verified || !isUsable(verified.credential, environment, now()) || !verified.isAllowedAddress(address)) {
        return null;
      }
      onUse(key.kid, now());
      return verified.caller;
    },
  };
};

interface VerifyOptions extends Pick<AuthenticatorOptions, 'findCredential' | 'verify'> {
  readonly requestedAt: number;
  readonly cached: VerifiedKey | undefined;
  readonly skipExpensive: boolean;
}

/** Loads the credential of a key and verifies its secret, unless `cached` was verified against the same hash. */
const verifyKey = async (
  key: ApiKey,
  { findCredential, verify, requestedAt, cached, skipExpensive }: VerifyOptions,
): Promise<VerifiedKey | null> => {
  const credential = await findCredential(key.kid);
  if (!credential) return null;
  const isVerified = cached?.credential.secret_hash === credential.secret_hash;
  if (!isVerified && skipExpensive && isExpensive(credential.alg)) return null;
  if (!isVerified && !(await verify(key.secret, credential))) return null;
  return {
    credential,
    caller: {
      kid: credential.kid,
      merchantId: credential.merchant_id,
      scopes: new Set(credential.scopes),
      paymentMethods: credential.payment_methods,
    },
    isAllowedAddress: credential.allowed_ips.length === 0 ? () => true : createAddressMatcher(credential.allowed_ips),
    requestedAt,
  };
};

const isUsable = (credential: CredentialWithMerchant, environment: KeyEnvironment, now: Date): boolean =>
  credential.status === 'active' &&
  credential.environment === environment &&
  (credential.expires_at === null || now < credential.expires_at);
