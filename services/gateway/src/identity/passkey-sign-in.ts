import { useChallenge } from './challenges.ts';
import { passkeyByCredential, recordUse } from './passkey-store.ts';
import { checkAnswer, type PasskeyAnswer, type Site } from './passkeys.ts';
import { type Browser, failed, type SignedIn, type SignInOptions, startSignedIn } from './signed-in.ts';

/** Signs in the user of a passkey. It proves possession and, by a PIN or a body feature, the person: no password and no
 *  code are asked for. Attempts are not counted per account, because signatures cannot be guessed. Throws
 *  `sign_in_failed`. */
export const signInByPasskey = async (
  answer: PasskeyAnswer,
  browser: Browser,
  { pool, box, site, at }: SignInOptions & { readonly site: Site },
): Promise<SignedIn> => {
  const passkey = await passkeyByCredential(pool, answer.id);
  if (!passkey) throw refused();
  const { challenge, counter, isBackedUp } = await checkAnswer(answer, passkey, { site, box, at }).catch(
    (error: unknown) => {
      throw refused(error);
    },
  );
  return startSignedIn({ userId: passkey.user_id, method: 'passkey', browser }, { pool, at }, async (db) => {
    if (!(await useChallenge(db, challenge))) throw refused();
    if (!(await recordUse(db, passkey.id, { counter, isBackedUp, at }))) throw refused();
  });
};

/** The same for every reason: an attacker learns nothing, and a user can only try again or sign in otherwise. */
const refused = (cause?: unknown) => failed('this passkey is not known here, or its answer is not valid', cause);
