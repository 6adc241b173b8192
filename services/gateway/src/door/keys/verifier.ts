import type { Logger } from '@cpg/platform';
import { hashSecret, type SecretHash, verifySecret } from './hash.ts';

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
