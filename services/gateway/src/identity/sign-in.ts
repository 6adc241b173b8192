import { AppError } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { verifyPassword } from './passwords.ts';
import type { PasskeyAnswer, Site } from './passkeys.ts';
import { signInByPasskey } from './passkey-sign-in.ts';
import { accountOf, beginAttempt, forgetAttempt, forgetAttempts, isKnownBrowser } from './sign-in-attempts.ts';
import { useLink, userOfLink } from './sign-in-links.ts';
import { type Browser, failed, type SignedIn, type SignInOptions, startSignedIn } from './signed-in.ts';
import { hashOfToken } from './tokens.ts';
import { hashOfRecoveryCode, stepOf } from './totp.ts';
import { acceptTotpStep, totpRow, type User, userByEmail, useRecoveryCode } from './users.ts';

/** What a user sends to sign in. `code` is of the authenticator app, or a recovery code. */
export type SignIn =
  | { readonly email: string; readonly password: string; readonly code?: string | undefined }
  | { readonly link: string; readonly code?: string | undefined }
  | { readonly passkey: PasskeyAnswer };

/** Too many attempts: the next one is allowed after this time. */
export interface Throttled {
  readonly retryAfterSeconds: number;
}

/** Signs a user in and starts a session with a new token. Throws `sign_in_failed`, `link_invalid`, or `code_required`
 *  when the rest is right and the user has an authenticator app. */
export const signIn = async (
  input: SignIn,
  browser: Browser,
  options: SignInOptions & { readonly site: Site },
): Promise<SignedIn | Throttled> => {
  if ('passkey' in input) return signInByPasskey(input.passkey, browser, options);
  return 'link' in input ? signInByLink(input, browser, options) : signInByPassword(input, browser, options);
};

const signInByPassword = async (
  { email, password, code }: Extract<SignIn, { email: string }>,
  browser: Browser,
  options: SignInOptions,
): Promise<SignedIn | Throttled> => {
  const { pool, at } = options;
  const user = await userByEmail(pool, email.trim());
  const group = { account: accountOf(email, user), browser: await knownBrowserOf(pool, user, browser) };
  const attempt = await beginAttempt(pool, group, at);
  if ('retryAfterSeconds' in attempt) return attempt;
  const isRight = await verifyPassword(password, user?.password_hash ?? null);
  if (!isRight || !user || user.disabled_at !== null) throw failed('the email address or the password is wrong');
  await checkCode(user, code, attempt.id, options);
  return startSignedIn({ userId: user.id, method: 'password', browser }, options, (db) => forgetAttempts(db, group));
};

const signInByLink = async (
  { link, code }: Extract<SignIn, { link: string }>,
  browser: Browser,
  options: SignInOptions,
): Promise<SignedIn | Throttled> => {
  const { pool, at } = options;
  const user = await userOfLink(pool, link, at);
  if (!user || user.disabled_at !== null) throw linkInvalid();
  // Who has no link cannot use up its attempts.
  const group = { account: hashOfToken(`link ${link}`), browser: '' };
  const attempt = await beginAttempt(pool, group, at);
  if ('retryAfterSeconds' in attempt) return attempt;
  await checkCode(user, code, attempt.id, options);
  return startSignedIn({ userId: user.id, method: 'link', browser }, options, async (db) => {
    if (!(await useLink(db, link))) throw linkInvalid();
    await forgetAttempts(db, group);
  });
};

const linkInvalid = (): AppError =>
  new AppError('link_invalid', 'this link was used, has expired, or was replaced: ask who sent it for a new one');

/** The hash of the browser's token if the user signed in there before, else empty. */
const knownBrowserOf = async (db: Queryable, user: User | null, { knownAs }: Browser): Promise<string> => {
  if (!user || knownAs === undefined) return '';
  const hash = hashOfToken(knownAs);
  return (await isKnownBrowser(db, user.id, hash)) ? hash : '';
};

/** Checks the second factor of a user who has one. */
const checkCode = async (
  user: User,
  code: string | undefined,
  attemptId: string,
  options: SignInOptions,
): Promise<void> => {
  if (user.totp_confirmed_at === null) return;
  if (code === undefined) {
    await forgetAttempt(options.pool, attemptId);
    throw new AppError('code_required', 'enter the code of your authenticator app, or a recovery code');
  }
  if (!(await isRightCode(user, code, options)))
    throw failed('the code is wrong, or was used: wait for the next code of your authenticator app');
};

/** Whether a code is right. It is used up by this. */
export const isRightCode = async (user: User, code: string, { pool, box, at }: SignInOptions): Promise<boolean> => {
  if (!/^[\d ]+$/.test(code)) return useRecoveryCode(pool, user.id, hashOfRecoveryCode(code));
  const step = user.totp_box === null ? null : stepOf(code, box.open(user.totp_box, totpRow(user.id)), at);
  return step !== null && acceptTotpStep(pool, user.id, step);
};
