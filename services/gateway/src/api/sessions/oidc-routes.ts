import { requestText } from '@cpg/contracts';
import { clientNetwork, type SecretBox } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RateLimits } from '../../door/limits/rate-limits.ts';
import { OIDC_COOKIE_MS, clearOidcCookie, oidcCookieOf, setOidcCookie } from '../../door/sessions/oidc-cookie.ts';
import { browserOf, setSessionCookies } from '../../door/sessions/session-cookie.ts';
import { type OidcFailure, OidcError, type OidcProvider } from '../../identity/oidc.ts';
import { signInByOidc } from '../../identity/oidc-sign-in.ts';

export interface OidcRouteOptions {
  readonly pool: Pool;
  /** Encrypts the cookie. */
  readonly box: SecretBox;
  readonly oidc: OidcProvider;
  readonly limits: Pick<RateLimits, 'failures'>;
  readonly now: () => Date;
}

const SEE_OTHER = 303;
const DASHBOARD = '/dashboard/';
// Providers add parameters of their own. The client library reads the query as it came.
const Answer = z.looseObject({});
const Start = z.strictObject({ next: requestText(1, 500).optional() });

/** `/v1/sessions/oidc`: users sign in at another provider. A browser opens both paths, so every outcome is a page: the
 *  sign-in page has words for each `error`. */
export const oidcRoutes: FastifyPluginAsyncZod<OidcRouteOptions> = async (app, options) => {
  const { pool, box, oidc, limits, now } = options;

  app.get('/sessions/oidc', { schema: { hide: true, querystring: Start } }, async (request, reply) => {
    const { next } = request.query;
    try {
      const { url, flow } = await oidc.begin();
      const { knownAs, sessionToken } = browserOf(request);
      const expiresAt = new Date(now().getTime() + OIDC_COOKIE_MS).toISOString();
      setOidcCookie(reply, box, { ...flow, next: pageOf(next), knownAs, sessionToken, expiresAt });
      return reply.redirect(url.href, SEE_OTHER);
    } catch (error) {
      return sendToSignIn(request, reply, error);
    }
  });

  app.get('/sessions/oidc/callback', { schema: { hide: true, querystring: Answer } }, async (request, reply) => {
    const network = clientNetwork(request.ip);
    clearOidcCookie(reply);
    try {
      if (limits.failures.isEmpty(network)) throw new OidcError('oidc_failed');
      const at = now();
      const flow = oidcCookieOf(request, box);
      if (!flow || !(new Date(flow.expiresAt) > at)) throw new OidcError('oidc_failed');
      const identity = await oidc.finish(queryOf(request), flow);
      // The browser's other cookies do not come with a request from another site.
      const browser = { ...browserOf(request), knownAs: flow.knownAs, sessionToken: flow.sessionToken };
      const state = { text: flow.state, expiresAt: new Date(flow.expiresAt) };
      const signedIn = await signInByOidc(identity, state, browser, { pool, at });
      request.log.info({ user: signedIn.userId, address: request.ip, requestId: request.id }, 'a user signed in');
      setSessionCookies(reply, signedIn);
      return await reply.redirect(flow.next, SEE_OTHER);
    } catch (error) {
      limits.failures.consume(network);
      return sendToSignIn(request, reply, error);
    }
  });
};

const sendToSignIn = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
  if (!(error instanceof OidcError)) throw error;
  request.log.warn({ error: error.code, reason: reasonOf(error.cause), requestId: request.id }, LINES[error.code]);
  return reply.redirect(`/dashboard/sign-in?error=${error.code}`, SEE_OTHER);
};

const LINES: Readonly<Record<OidcFailure, string>> = {
  oidc_failed: 'the answer of the OpenID provider is not valid',
  oidc_canceled: 'a user canceled at the OpenID provider',
  oidc_unavailable: 'the OpenID provider is unavailable',
  oidc_email_unverified: 'the OpenID provider names no verified email address',
  oidc_unknown_user: 'no user has the email address of the OpenID provider',
  oidc_other_account: 'the user signs in with another account of the OpenID provider',
};

/** Only the fixed texts of the client library, and the error code of the provider: a cause has requests and tokens. */
const reasonOf = (cause: unknown): string | undefined => {
  if (!(cause instanceof Error)) return undefined;
  const { code, error } = cause as { code?: unknown; error?: unknown };
  return [code, error].filter((each) => typeof each === 'string').join(' ') || cause.name;
};

/** The query as the provider wrote it: the library refuses repeated parameters. */
const queryOf = ({ url }: FastifyRequest): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '');

/** A page of the dashboard, whatever `next` says: nobody must be led to another site. */
const pageOf = (next: string | undefined): string => {
  const base = 'http://gateway';
  const path = `${DASHBOARD}${next?.replace(/^\/+/, '') ?? ''}`;
  const url = URL.canParse(path, base) ? new URL(path, base) : null;
  const isOwn = url !== null && url.origin === base && url.pathname.startsWith(DASHBOARD);
  return isOwn ? url.pathname + url.search : DASHBOARD;
};
