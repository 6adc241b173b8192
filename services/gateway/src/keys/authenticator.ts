import { createHash } from 'node:crypto';
import type { PaymentMethod } from '@cpg/contracts';
import { createAddressMatcher } from '@cpg/runtime';
import { LRUCache } from 'lru-cache';
import type { KnownCredential } from '../queries/credentials.ts';
import { type ApiKey, type KeyEnvironment, parseApiKey } from './api-key.ts';
import { isExpensive, type SecretHash } from './hash.ts';

/** Who sent a request, as their key proves it. */
export interface Caller {
  readonly kid: string;
  readonly merchantId: string;
  readonly scopes: ReadonlySet<string>;
  readonly paymentMethods: readonly PaymentMethod[];
}

export interface Authenticator {
  /** The caller whose key `text` is, or null when it is malformed, unknown, revoked, expired, of the other environment, or not
   *  allowed from `address`. With `sparing`, keys that are expensive to verify and were not verified lately are refused unseen. */
  readonly authenticate: (text: string, address: string, sparing?: boolean) => Promise<Caller | null>;
}

export interface AuthenticatorOptions {
  readonly environment: KeyEnvironment;
  /** Whether `secret` is the one that the record was made of. */
  readonly verify: (secret: string, kept: SecretHash) => Promise<boolean>;
  readonly find: (kid: string) => Promise<KnownCredential | null>;
  readonly onUse: (kid: string, at: Date) => void;
  readonly now: () => Date;
  /** How long a record is believed before it is read again: the time within which a revocation takes effect. */
  readonly trustMs?: number;
}

const TRUST_MS = 3_000;
const KEPT = 10_000;

interface Verified {
  readonly credential: KnownCredential;
  readonly caller: Caller;
  readonly mayComeFrom: (address: string) => boolean;
  /** When it was asked for: the answer may have been long on its way. */
  readonly askedAt: number;
}

interface Look {
  readonly askedAt: number;
  readonly found: Promise<Verified | null>;
}

/** Verifies API keys. What was verified is kept under the hash of the key, so the hot path needs neither query nor key derivation;
 *  a record that is read again is verified again only if its hash changed. */
export const createAuthenticator = (options: AuthenticatorOptions): Authenticator => {
  const { environment, verify, find, onUse, now, trustMs = TRUST_MS } = options;
  const verified = new LRUCache<string, Verified>({ max: KEPT });
  const running = new Map<string, Look>();

  const check = async (key: ApiKey, known: Verified | undefined, sparing: boolean): Promise<Verified | null> => {
    const askedAt = now().getTime();
    const credential = await find(key.kid);
    if (!credential) return null;
    const proven = known?.credential.secret_hash === credential.secret_hash;
    if (!proven && sparing && isExpensive(credential.alg)) return null;
    if (!proven && !(await verify(key.secret, credential))) return null;
    return {
      credential,
      caller: {
        kid: credential.kid,
        merchantId: credential.merchant_id,
        scopes: new Set(credential.scopes),
        paymentMethods: credential.payment_methods,
      },
      mayComeFrom: credential.allowed_ips.length === 0 ? () => true : createAddressMatcher(credential.allowed_ips),
      askedAt,
    };
  };

  const isFresh = ({ askedAt }: Pick<Verified, 'askedAt'>): boolean => now().getTime() - askedAt < trustMs;

  /** Requests that need the same look-up share it, unless it has been on its way for too long. */
  const lookUp = (key: ApiKey, sparing: boolean): Promise<Verified | null> => {
    const fingerprint = createHash('sha256').update(key.text).digest('base64');
    const known = verified.get(fingerprint);
    if (known && isFresh(known)) return Promise.resolve(known);
    const name = `${fingerprint} ${sparing}`;
    const shared = running.get(name);
    if (shared && isFresh(shared)) return shared.found;
    const look: Look = {
      askedAt: now().getTime(),
      found: check(key, known, sparing)
        .then((found) => {
          // A look that was begun later may have ended earlier.
          const kept = verified.get(fingerprint);
          if (found && found.askedAt >= (kept?.askedAt ?? 0)) verified.set(fingerprint, found);
          if (!found && kept === known) verified.delete(fingerprint);
          return found;
        })
        .finally(() => {
          if (running.get(name) === look) running.delete(name);
        }),
    };
    running.set(name, look);
    return look.found;
  };

  return {
    authenticate: async (text, address, sparing = false) => {
      const key = parseApiKey(text);
      if (!key || key.environment !== environment) return null;
      const found = await lookUp(key, sparing);
      if (!found || !isUsable(found.credential, environment, now()) || !found.mayComeFrom(address)) return null;
      onUse(key.kid, now());
      return found.caller;
    },
  };
};

const isUsable = (credential: KnownCredential, environment: KeyEnvironment, now: Date): boolean =>
  credential.status === 'active' &&
  credential.environment === environment &&
  (credential.expires_at === null || now < credential.expires_at);
