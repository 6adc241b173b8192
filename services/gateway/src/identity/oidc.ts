import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the sign-in page calls the provider. */
  readonly name: string;
  /** Address of this gateway. */
  readonly publicUrl: string;
}

/** What the browser keeps of a sign-in that has begun. */
interface OidcFlow {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
}

/** Who signed in at the provider. */
export interface OidcIdentity {
  /** Issuer and subject: a subject alone is another account at another provider. */
  readonly subject: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
}

/** A provider of OpenID Connect. Both calls throw `OidcError`. */
export interface OidcProvider {
  readonly name: string;
  /** Begins a sign-in: the browser goes to `url`. */
  readonly begin: () => Promise<{ readonly url: URL; readonly flow: OidcFlow }>;
  /** Ends it with the query with which the provider sent the browser back. */
  readonly finish: (query: string, flow: OidcFlow) => Promise<OidcIdentity>;
}

/** Why a sign-in at the provider failed. The sign-in page has words for each. */
export type OidcFailure =
  | 'oidc_failed'
  | 'oidc_canceled'
  | 'oidc_unavailable'
  | 'oidc_email_unverified'
  | 'oidc_unknown_user'
  | 'oidc_other_account';

export class OidcError extends Error {
  override name = 'OidcError';
  readonly code: OidcFailure;

  constructor(code: OidcFailure, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
  }
}

const CALLBACK_PATH = '/v1/sessions/oidc/callback';
const SCOPE = 'openid email';
const TIMEOUT_SECONDS = 10;
/** By how much the clock of the provider may differ. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** The authorization code flow with PKCE (RFC 7636), state and nonce. The metadata of the provider is read at the first
 *  sign-in, so that the gateway starts without it, and kept: after a move of its endpoints, restart the gateway. */
export const createOidcProvider = ({ issuer, clientId, clientSecret, name, publicUrl }: OidcSettings): OidcProvider => {
  const redirectUri = publicUrl.replace(/\/$/, '') + CALLBACK_PATH;
  let found: Promise<Configuration> | undefined;
  const discover = () =>
    (found ??= discovery(
      new URL(issuer),
      clientId,
      { [clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authenticationOf(clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        // The configuration refuses http in production, but to hosts that it names as private.
        execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
      },
    ).catch((cause: unknown) => {
      found = undefined;
      throw new OidcError('oidc_unavailable', { cause });
    }));

  return {
    name,
    begin: async () => {
      const config = await discover();
      const flow = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      });
      return { url, flow };
    },
    finish: async (query, { state, nonce, verifier }) => {
      const config = await discover();
      try {
        const tokens = await authorizationCodeGrant(config, new URL(redirectUri + query), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const { iss, sub, ...claims } = tokens.claims()!;
        // Many providers put the email address into the ID token, and others only here.
        const { email, email_verified } =
          claims.email === undefined ? await fetchUserInfo(config, tokens.access_token, sub) : claims;
        return {
          subject: `${iss} ${sub}`,
          email: typeof email === 'string' ? email : undefined,
          isEmailVerified: email_verified === true,
        };
      } catch (cause) {
        throw new OidcError(failureOf(cause), { cause });
      }
    },
  };
};

/** Providers must support the first way (RFC 6749, 2.3.1), and most take both. */
const authenticationOf = (clientSecret: string): ClientAuth => {
  const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
};

const OUTAGES: ReadonlySet<unknown> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']);

/** `fetch` throws a TypeError without an answer, which the library may wrap. */
const isOutage = (error: unknown): boolean =>
  isError(error) &&
  (error.name === 'TypeError' || OUTAGES.has((error as { code?: unknown }).code) || isOutage(error.cause));

const isError = (error: unknown): error is Error => typeof error === 'object' && error !== null && 'name' in error;

const failureOf = (error: unknown): OidcFailure => {
  if (error instanceof AuthorizationResponseError)
    return error.error === 'access_denied' ? 'oidc_canceled' : 'oidc_failed';
  return isOutage(error) ? 'oidc_unavailable' : 'oidc_failed';
};
