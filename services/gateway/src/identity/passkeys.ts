import type { SecretBox } from '@cpg/platform';
import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import { type AnsweredChallenge, CHALLENGE_MS, newChallenge, openChallenge } from './challenges.ts';
import type { NewPasskey, Passkey } from './passkey-store.ts';
import type { User } from './users.ts';

/** The site that a passkey belongs to: authenticators sign both. */
export interface Site {
  /** `https://pay.example.com` */
  readonly origin: string;
  /** `pay.example.com`: the relying party id of WebAuthn. */
  readonly rpId: string;
}

/** What the browser sends of a new passkey. */
export type NewPasskeyAnswer = Omit<RegistrationResponseJSON, 'response'> & {
  readonly response: Omit<RegistrationResponseJSON['response'], 'transports'> & { readonly transports: string[] };
};

/** What the browser sends of a passkey that signs in. */
export type PasskeyAnswer = AuthenticationResponseJSON;

export interface CeremonyOptions {
  readonly site: Site;
  readonly box: SecretBox;
  readonly at: Date;
}

/** What the browser needs to make a passkey for a user. It must be discoverable, so that signing in asks for no email
 *  address, and must verify the user by a PIN or a body feature, so that it is two factors. */
export const creationOptions = (
  user: Pick<User, 'id' | 'email' | 'name'>,
  { siteName, others }: { readonly siteName: string; readonly others: readonly Passkey[] },
  { site, box, at }: CeremonyOptions,
): Promise<PublicKeyCredentialCreationOptionsJSON> =>
  generateRegistrationOptions({
    rpName: siteName,
    rpID: site.rpId,
    userID: Uint8Array.from(Buffer.from(user.id)),
    userName: user.email,
    userDisplayName: user.name ?? user.email,
    challenge: newChallenge(box, user.id as `usr_${string}`, at),
    timeout: CHALLENGE_MS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: others.map(({ credential_id, transports }) => ({
      id: credential_id,
      transports: transports as AuthenticatorTransport[],
    })),
  });

type CheckedPasskey = Omit<NewPasskey, 'id' | 'name' | 'created_at'>;

/** Checks what the browser sent of a new passkey of the user. Throws if anything is wrong. */
export const checkNewPasskey = async (
  answer: NewPasskeyAnswer,
  userId: string,
  { site, box, at }: CeremonyOptions,
): Promise<{ readonly passkey: CheckedPasskey; readonly challenge: AnsweredChallenge }> => {
  refuseCertificates(answer.response.attestationObject);
  let challenge: AnsweredChallenge | undefined;
  const { registrationInfo } = await verifyRegistrationResponse({
    response: answer,
    expectedChallenge: (signed) => {
      challenge = openChallenge(box, userId as `usr_${string}`, signed, at);
      return true;
    },
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: true,
  });
  if (!registrationInfo || !challenge) throw new Error('the attestation does not verify');
  const { credential, credentialBackedUp } = registrationInfo;
  const passkey = {
    user_id: userId,
    credential_id: credential.id,
    public_key: credential.publicKey,
    counter: credential.counter,
    transports: answer.response.transports,
    is_backed_up: credentialBackedUp,
  };
  return { passkey, challenge };
};

/** Certificates name servers that have lists of revoked ones, which the library would fetch: a user could choose whom
 *  the gateway calls. We ask for no attestation, so browsers send none. */
const refuseCertificates = (attestationObject: string): void => {
  const statement = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('attStmt');
  if (statement.get('x5c') !== undefined || statement.get('response') !== undefined)
    throw new Error('the answer has certificates');
};

/** What the browser needs to ask for any passkey of this site. */
export const requestOptions = ({ site, box, at }: CeremonyOptions): Promise<PublicKeyCredentialRequestOptionsJSON> =>
  generateAuthenticationOptions({
    rpID: site.rpId,
    challenge: newChallenge(box, 'sign-in', at),
    timeout: CHALLENGE_MS,
    userVerification: 'required',
  });

/** Checks that the passkey signed a challenge of ours, for this site. Throws if anything is wrong. */
export const checkAnswer = async (
  answer: PasskeyAnswer,
  passkey: Passkey,
  { site, box, at }: CeremonyOptions,
): Promise<{ readonly challenge: AnsweredChallenge; readonly counter: number; readonly isBackedUp: boolean }> => {
  const { userHandle } = answer.response;
  if (userHandle === undefined || Buffer.from(userHandle, 'base64url').toString('utf8') !== passkey.user_id)
    throw new Error('the answer is of another user');
  let challenge: AnsweredChallenge | undefined;
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: answer,
    expectedChallenge: (signed) => {
      challenge = openChallenge(box, 'sign-in', signed, at);
      return true;
    },
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    credential: {
      id: passkey.credential_id,
      publicKey: Uint8Array.from(passkey.public_key),
      counter: Number(passkey.counter),
    },
    requireUserVerification: true,
  });
  if (!verified || !challenge) throw new Error('the signature is wrong');
  return { challenge, counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp };
};
