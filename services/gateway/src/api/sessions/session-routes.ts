import { AppError, type ErrorCode, SessionId } from '@cpg/contracts';
import { clientNetwork, type SecretBox } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { requireSameOrigin } from '../../door/bodies/forms.ts';
import type { KeyEnvironment } from '../../door/keys/api-key.ts';
import { type RateLimits, tooManyRequests } from '../../door/limits/rate-limits.ts';
import { requireSession, sessionOf } from '../../door/sessions/authenticate-session.ts';
import {
  browserOf,
  clearSessionCookie,
  sessionTokenOf,
  setSessionCookies,
} from '../../door/sessions/session-cookie.ts';
import { siteOf } from '../../door/sessions/site.ts';
import type { OidcProvider } from '../../identity/oidc.ts';
import { requestOptions } from '../../identity/passkeys.ts';
import { endSession, openSession, sessionsOf } from '../../identity/sessions.ts';
import { signIn } from '../../identity/sign-in.ts';
import { hashOfToken } from '../../identity/tokens.ts';
import { NoBody, notFound, parseId, pathId } from '../ids.ts';
import { accountRoutes } from './account-routes.ts';
import { oidcRoutes } from './oidc-routes.ts';
import { passkeyRoutes } from './passkey-routes.ts';
import { currentSession, listedSession, SignInDto } from './session-schemas.ts';

export interface SessionRouteOptions {
  readonly pool: Pool;
  /** Encrypts the secrets of authenticator apps, and challenges. */
  readonly box: SecretBox;
  readonly keyEnvironment: KeyEnvironment;
  readonly limits: Pick<RateLimits, 'failures'>;
  readonly now: () => Date;
  /** With which users can sign in, if there is one. */
  readonly oidc?: OidcProvider | undefined;
}

/** Failures that can be guesses. */
const GUESSES: ReadonlySet<ErrorCode> = new Set(['sign_in_failed', 'link_invalid']);

/** `/v1/sessions`: users sign in and out. `/v1/account`: what they change of themselves. These are for the dashboard:
 *  only a browser has the cookie, so the API document leaves them out. */
export const sessionRoutes: FastifyPluginAsyncZod<SessionRouteOptions> = async (app, options) => {
  const { pool, box, keyEnvironment: environment, limits, now, oidc } = options;

  app.post('/sessions', { schema: { hide: true, body: SignInDto } }, async (request, reply) => {
    requireSameOrigin(request);
    const network = clientNetwork(request.ip);
    if (limits.failures.isEmpty(network)) throw tooManyRequests(reply, limits.failures.consume(network)!);
    const at = now();
    const signInOptions = { pool, box, at, site: siteOf(request) };
    const result = await signIn(request.body, browserOf(request), signInOptions).catch((error: unknown) => {
      if (error instanceof AppError && GUESSES.has(error.code)) limits.failures.consume(network);
      throw error;
    });
    if ('retryAfterSeconds' in result) throw tooManyAttempts(reply, result.retryAfterSeconds);
    const { userId: user, sessionToken: token } = result;
    request.log.info({ user, address: request.ip, requestId: request.id }, 'a user signed in');
    setSessionCookies(reply, result);
    const session = (await openSession(pool, hashOfToken(token), at))!;
    return reply.code(201).send(currentSession(session, { token, environment, at }));
  });

  /** What the sign-in page offers. */
  app.get('/sessions/methods', { schema: { hide: true } }, async () => ({
    password: true,
    passkeys: true,
    oidc: oidc ? { name: oidc.name } : null,
  }));
  if (oidc) await app.register(oidcRoutes, { ...options, oidc });

  app.post('/sessions/passkey-options', { schema: { hide: true, body: NoBody } }, (request) => {
    requireSameOrigin(request);
    return requestOptions({ site: siteOf(request), box, at: now() });
  });

  await app.register(async (own: typeof app) => {
    requireSession(own, { db: pool, now });

    own.get('/sessions/current', { schema: { hide: true } }, (request) =>
      currentSession(sessionOf(request), { token: sessionTokenOf(request)!, environment, at: now() }),
    );

    own.get('/sessions', { schema: { hide: true } }, async (request) => {
      const { id, user_id: user } = sessionOf(request);
      return { items: (await sessionsOf(pool, user, now())).map((session) => listedSession(session, id)) };
    });

    own.delete('/sessions/current', { schema: { hide: true } }, async (request, reply) => {
      const { id, user_id: user } = sessionOf(request);
      await endSession(pool, user, id);
      clearSessionCookie(reply);
      return { id, deleted: true as const };
    });

    own.delete('/sessions/:id', { schema: { hide: true, params: pathId('session') } }, async (request) => {
      const id = parseId(SessionId, 'session', request.params.id);
      if (!(await endSession(pool, sessionOf(request).user_id, id))) throw notFound('session');
      return { id, deleted: true as const };
    });

    await own.register(accountRoutes, options);
    await own.register(passkeyRoutes, options);
  });
};

const tooManyAttempts = (reply: FastifyReply, retryAfterSeconds: number): AppError => {
  reply.header('retry-after', retryAfterSeconds);
  return new AppError(
    'rate_limited',
    'too many attempts on this account: wait, sign in from a browser where you signed in before, or use a sign-in link',
  );
};
