import { AppError } from '@cpg/contracts';
import { newId, type SecretBox } from '@cpg/platform';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { endSessionOfToken, type SignInMethod, startSession } from './sessions.ts';
import { rememberBrowser } from './sign-in-attempts.ts';
import { hashOfToken, newToken } from './tokens.ts';

/** The browser that signs in. */
export interface Browser {
  readonly address: string;
  readonly userAgent: string | null;
  /** The token that this browser got at an earlier sign-in. */
  readonly knownAs: string | undefined;
  /** The token of the session that it still has. */
  readonly sessionToken: string | undefined;
}

export interface SignedIn {
  readonly userId: string;
  readonly sessionToken: string;
  readonly browserToken: string;
  /** When the session ends at the latest. */
  readonly expiresAt: Date;
}

export interface SignInOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly at: Date;
}

/** A sign-in that failed, whose reason the user may know. */
export const failed = (message: string, cause?: unknown): AppError =>
  new AppError('sign_in_failed', message, { cause });

/** Starts a session of a user who has proved who they are. What `first` does in the same transaction counts only if
 *  the session starts; if it throws, none does. */
export const startSignedIn = async (
  { userId, method, browser }: { readonly userId: string; readonly method: SignInMethod; readonly browser: Browser },
  { pool, at }: Pick<SignInOptions, 'pool' | 'at'>,
  first: (db: Queryable) => Promise<void>,
): Promise<SignedIn> => {
  const { address, userAgent, knownAs, sessionToken } = browser;
  const fresh = newToken();
  const browserToken = knownAs ?? newToken();
  const expiresAt = await transaction(pool, async (db) => {
    await first(db);
    if (sessionToken !== undefined) await endSessionOfToken(db, hashOfToken(sessionToken));
    await rememberBrowser(db, userId, hashOfToken(browserToken), at);
    const session = { id: newId('session'), user_id: userId, method, address, user_agent: userAgent };
    return startSession(db, session, hashOfToken(fresh), at);
  });
  return { userId, sessionToken: fresh, browserToken, expiresAt };
};
