import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser';
import { call, Failure } from '../api.ts';
import { isHostName } from '../lib/passkeys.ts';

/** Whether this browser can use passkeys on this page. */
export const canUsePasskeys = (): boolean => browserSupportsWebAuthn() && isHostName(location.hostname);

export interface NewPasskey {
  readonly name: string;
}

/** Asks the browser to make a passkey, and adds it to the account. */
export const addPasskey = async ({ name }: NewPasskey): Promise<void> => {
  const optionsJSON = await call<PublicKeyCredentialCreationOptionsJSON>('POST', '/v1/account/passkeys/options');
  const response = await startRegistration({ optionsJSON }).catch(sayWhy);
  await call('POST', '/v1/account/passkeys', { body: { name, response } });
};

/** Asks the browser for a passkey. Returns what signs in. */
export const askForPasskey = async (): Promise<object> => {
  const optionsJSON = await call<PublicKeyCredentialRequestOptionsJSON>('POST', '/v1/sessions/passkey-options');
  return startAuthentication({ optionsJSON }).catch(sayWhy);
};

/** Browsers tell only one reason: the authenticator has the passkey already. Every other one is as if the user had
 *  cancelled. */
const sayWhy = (error: unknown): never => {
  const isKnown = error instanceof WebAuthnError && error.name === 'InvalidStateError';
  throw new Failure('', { status: 400, code: isKnown ? 'passkey_exists' : 'passkey_cancelled' });
};
