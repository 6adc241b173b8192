import { createHash, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Logger } from '@cpg/platform';
import { argon2idAsync } from '@noble/hashes/argon2.js';

export type KeyAlgorithm = 'HMAC-SHA256' | 'SCRYPT' | 'ARGON2ID';

/** A stored secret. `salt` and `secret_hash` are base64url of 32 bytes each. */
export interface SecretHash {
  readonly alg: KeyAlgorithm;
  readonly salt: string;
  readonly secret_hash: string;
  /** Which pepper it is hashed with. Null: not known, or the algorithm uses none. */
  readonly pepper_id: string | null;
}

const BYTES = 32;

// Cost parameters of OWASP's Password Storage Cheat Sheet. HMAC-SHA256 needs none: secrets have 256 random bits.
const SCRYPT = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const ARGON2ID = { m: 19 * 1024, t: 2, p: 1, dkLen: BYTES };

const scryptAsync = promisify<string, Buffer, number, typeof SCRYPT, Buffer>(scrypt);

const digests: Record<KeyAlgorithm, (secret: string, salt: Buffer, pepper: string) => Promise<Uint8Array>> = {
  'HMAC-SHA256': async (secret, salt, pepper) => createHmac('sha256', pepper).update(salt).update(secret).digest(),
  SCRYPT: (secret, salt) => scryptAsync(secret, salt, BYTES, SCRYPT),
  ARGON2ID: (secret, salt) => argon2idAsync(secret, salt, ARGON2ID),
};

/** Whether one verification with the algorithm takes enough CPU time to delay other requests. */
export const isSlowHash = (alg: KeyAlgorithm): boolean => alg !== 'HMAC-SHA256';

/** Hashes a secret with a random salt. `pepper` is a key that is not stored in the database; only HMAC-SHA256 uses
 *  it. */
export const hashSecret = async (
  secret: string,
  pepper: string,
  alg: KeyAlgorithm = 'HMAC-SHA256',
): Promise<SecretHash> => {
  const salt = randomBytes(BYTES);
  const digest = await digests[alg](secret, salt, pepper);
  return {
    alg,
    salt: salt.toString('base64url'),
    secret_hash: Buffer.from(digest).toString('base64url'),
    pepper_id: alg === 'HMAC-SHA256' ? pepperId(pepper) : null,
  };
};

/** Identifies a pepper without revealing it. */
export const pepperId = (pepper: string): string =>
  createHash('sha256').update('api-key-pepper').update(pepper).digest('hex').slice(0, 8);

/** `outdated`: the secret matches, but is hashed with another pepper than the first one. */
export type Verification = 'valid' | 'outdated' | 'invalid';

/** Whether `secret` matches the stored hash, with any of the peppers. Compares in constant time. */
export const verifySecret = async (
  secret: string,
  stored: SecretHash,
  peppers: readonly string[],
): Promise<Verification> => {
  const [first = ''] = peppers;
  const salt = Buffer.from(stored.salt, 'base64url');
  const expected = Buffer.from(stored.secret_hash, 'base64url');
  const usesPepper = stored.alg === 'HMAC-SHA256';
  for (const pepper of usesPepper ? peppers : [first]) {
    const digest = await digests[stored.alg](secret, salt, pepper);
    if (expected.length !== digest.length || !timingSafeEqual(expected, digest)) continue;
    return usesPepper && (pepper !== first || stored.pepper_id !== pepperId(first)) ? 'outdated' : 'valid';
  }
  return 'invalid';
};

export interface KeyVerifierOptions {
  /** The first one hashes, all verify. */
  readonly peppers: readonly string[];
  /** Replaces the stored hash of a key, unless it has changed meanwhile. */
  readonly replaceHash: (kid: string, old: SecretHash, fresh: SecretHash) => Promise<void>;
  readonly log: Logger;
}

export type KeyVerifier = (secret: string, stored: SecretHash & { readonly kid: string }) => Promise<boolean>;

/** Verifies secrets of API keys. A secret that is hashed with an earlier pepper is hashed again with the first one, in
 *  the background: a failure does not matter, because its next use tries again. */
export const createKeyVerifier =
  ({ peppers, replaceHash, log }: KeyVerifierOptions): KeyVerifier =>
  async (secret, stored) => {
    const verification = await verifySecret(secret, stored, peppers);
    if (verification === 'outdated') {
      hashSecret(secret, peppers[0]!)
        .then((fresh) => replaceHash(stored.kid, stored, fresh))
        .catch((error: unknown) => log.warn({ err: error, kid: stored.kid }, 'could not hash an API key again'));
    }
    return verification !== 'invalid';
  };
