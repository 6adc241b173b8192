import { type AnsweredChallenge, useChallenge } from './challenges.ts';
import { OidcError, type OidcIdentity } from './oidc.ts';
import { type Browser, type SignedIn, type SignInOptions, startSignedIn } from './signed-in.ts';
import { bindOidcSubject, userByEmail } from './users.ts';

/** Signs in the user whose email address the provider has verified. It creates none. The first sign-in binds the user
 *  to the account at the provider: whoever gets the email address later has another account, and is refused. The
 *  provider answers for the second factor. Throws `OidcError`. */
export const signInByOidc = async (
  { subject, email, isEmailVerified }: OidcIdentity,
  state: AnsweredChallenge,
  browser: Browser,
  options: Pick<SignInOptions, 'pool' | 'at'>,
): Promise<SignedIn> => {
  if (email === undefined || !isEmailVerified) throw new OidcError('oidc_email_unverified');
  const user = await userByEmail(options.pool, email);
  // The same for both: owners know whom they disabled.
  if (!user || user.disabled_at !== null) throw new OidcError('oidc_unknown_user');
  return startSignedIn({ userId: user.id, method: 'oidc', browser }, options, async (db) => {
    if (!(await useChallenge(db, state))) throw new OidcError('oidc_failed');
    if (!(await bindOidcSubject(db, user.id, subject))) throw new OidcError('oidc_other_account');
  });
};
