import type { SecretBox } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { hashOfToken } from './tokens.ts';

/** How long a user may take to use the authenticator. */
export const CHALLENGE_MS = 5 * 60_000;

/** A challenge that was answered. */
export interface AnsweredChallenge {
  readonly text: string;
  readonly expiresAt: Date;
}

/** What a challenge is for: to sign in, or to add a passkey of the user with this id. */
export type Purpose = 'sign-in' | `usr_${string}`;

/** A text for an authenticator to sign: when it expires, encrypted, so that every gateway knows it as one of theirs,
 *  and requests of strangers store nothing. Its nonce makes it unique. */
export const newChallenge = (box: SecretBox, purpose: Purpose, at: Date): string =>
  box.seal(new Date(at.getTime() + CHALLENGE_MS).toISOString(), rowOf(purpose));

/** The challenge that an authenticator signed, in base64url. Throws unless a gateway made it for this purpose, and it
 *  has not expired. Whether it was answered before, `useChallenge` says. */
export const openChallenge = (box: SecretBox, purpose: Purpose, signed: string, at: Date): AnsweredChallenge => {
  const text = Buffer.from(signed, 'base64url').toString('utf8');
  const expiresAt = new Date(box.open(text, rowOf(purpose)));
  if (!(expiresAt > at)) throw new Error('the challenge has expired');
  return { text, expiresAt };
};

/** Returns false if the challenge was answered before. */
export const useChallenge = async (db: Queryable, { text, expiresAt }: AnsweredChallenge): Promise<boolean> => {
  const { rowCount } = await db.query(
    'insert into gateway.used_challenges (challenge_hash, expires_at) values ($1, $2) on conflict do nothing',
    [hashOfToken(text), expiresAt],
  );
  return rowCount === 1;
};

const rowOf = (purpose: Purpose): string => `challenge ${purpose}`;
