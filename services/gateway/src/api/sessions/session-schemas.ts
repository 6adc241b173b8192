import { requestText } from '@cpg/contracts';
import { z } from 'zod';
import type { KeyEnvironment } from '../../door/keys/api-key.ts';
import { type Role, ROLES } from '../../identity/roles.ts';
import { needsCurrentPassword, type OpenSession, type Session } from '../../identity/sessions.ts';
import { csrfTokenOf } from '../../identity/tokens.ts';
import { profileName } from '../payment-page/payment-page-settings.ts';

// Longer than any good password, so that the rules for passwords name the limit.
const Password = requestText(1, 1_000);
const Code = requestText(6, 40);

const ByPassword = z.strictObject({ email: requestText(1, 254), password: Password, code: Code.optional() });
const ByLink = z.strictObject({ link: requestText(1, 100), code: Code.optional() });

const Bytes = requestText(1, 4_000);
// Browsers send more members than we read.
const Credential = z.object({
  id: requestText(1, 1_400),
  rawId: requestText(1, 1_400),
  type: z.literal('public-key'),
  clientExtensionResults: z.looseObject({}).default({}),
});

const ByPasskey = z.strictObject({
  passkey: Credential.extend({
    response: z.object({
      clientDataJSON: Bytes,
      authenticatorData: Bytes,
      signature: Bytes,
      userHandle: requestText(1, 100),
    }),
  }),
});

/** A password or a link, with the code of who has an authenticator app, or a recovery code. Or a passkey. */
export const SignInDto = z.union([ByPassword, ByLink, ByPasskey], {
  error: 'must have email and password, or link, or passkey',
});

export const NewPasskeyDto = z.strictObject({
  name: requestText(1, 100),
  response: Credential.extend({
    response: z.object({
      clientDataJSON: Bytes,
      attestationObject: Bytes,
      transports: z.array(requestText(1, 20)).max(10).default([]),
    }),
  }),
});

export const AccountDto = z.strictObject({ name: requestText(1, 100).nullable() });

export const PasswordDto = z.strictObject({ password: Password, current_password: Password.optional() });

export const CodeDto = z.strictObject({ code: Code });

/** A session as its user's page sees it. */
export interface CurrentSession {
  readonly id: string;
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name?: string;
    readonly role: Role;
    readonly has_password: boolean;
    /** Whether a new password needs the old one. */
    readonly needs_current_password: boolean;
    readonly has_totp: boolean;
  };
  readonly merchant: { readonly id: string; readonly name: string };
  /** What the user may do. */
  readonly scopes: readonly string[];
  readonly environment: KeyEnvironment;
  /** Requests that change something send it in `x-csrf-token`. */
  readonly csrf_token: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export const currentSession = (
  session: OpenSession,
  { token, environment, at }: { readonly token: string; readonly environment: KeyEnvironment; readonly at: Date },
): CurrentSession => ({
  id: session.id,
  user: {
    id: session.user_id,
    email: session.email,
    ...(session.name !== null && { name: session.name }),
    role: session.role,
    has_password: session.has_password,
    needs_current_password: needsCurrentPassword(session, at),
    has_totp: session.has_totp,
  },
  merchant: { id: session.merchant_id, name: profileName(session) },
  scopes: ROLES[session.role].scopes,
  environment,
  csrf_token: csrfTokenOf(token),
  created_at: session.created_at.toISOString(),
  expires_at: session.expires_at.toISOString(),
});

/** A session in the list of a user's sessions. */
export const listedSession = (session: Session, currentId: string) => ({
  id: session.id,
  method: session.method,
  address: session.address,
  ...(session.user_agent !== null && { user_agent: session.user_agent }),
  created_at: session.created_at.toISOString(),
  last_seen_at: session.last_seen_at.toISOString(),
  expires_at: session.expires_at.toISOString(),
  is_current: session.id === currentId,
});
