import { timingSafeEqual } from 'node:crypto';
import { AppError } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ROLES } from '../../identity/roles.ts';
import { markSeen, openSession, type OpenSession } from '../../identity/sessions.ts';
import { csrfTokenOf, hashOfToken } from '../../identity/tokens.ts';
import { requireSameOrigin } from '../bodies/forms.ts';
import type { UserCaller } from '../request.ts';
import { sessionTokenOf } from './session-cookie.ts';

export interface SessionAuthentication {
  readonly db: Queryable;
  readonly now: () => Date;
}

const READS = new Set(['GET', 'HEAD']);

/** The user whose session the request carries in its cookie; null without an open session. A request that can change
 *  something needs the session's token in `x-csrf-token` too, and has to come from a page of this gateway. */
export const callerOfSession = async (
  request: FastifyRequest,
  { db, now }: SessionAuthentication,
): Promise<UserCaller | null> => {
  const token = sessionTokenOf(request);
  if (token === undefined) return null;
  const at = now();
  const session = await openSession(db, hashOfToken(token), at);
  if (!session) return null;
  if (!READS.has(request.method)) requireOwnPage(request, token);
  await markSeen(db, session, at);
  return {
    by: 'user',
    actor: `user:${session.user_id}`,
    merchantId: session.merchant_id,
    scopes: new Set(ROLES[session.role].scopes),
    paymentMethods: session.payment_methods,
    isDisabled: session.merchant_disabled_at !== null,
    session,
  };
};

const requireOwnPage = (request: FastifyRequest, token: string): void => {
  requireSameOrigin(request);
  const sent = Buffer.from(String(request.headers['x-csrf-token'] ?? ''));
  const expected = Buffer.from(csrfTokenOf(token));
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected))
    throw new AppError('cross_site_request', 'x-csrf-token is missing or wrong: send the csrf_token of your session');
};

/** Requires a session for each request of `app`. An API key is not enough: these routes are about the user. */
export const requireSession = (app: FastifyInstance, options: SessionAuthentication): void => {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request) => {
    request.caller = await callerOfSession(request, options);
    if (!request.caller) throw sessionEnded();
  });
};

/** The session of a request to a route that requires one. */
export const sessionOf = (request: FastifyRequest): OpenSession => {
  const { caller } = request;
  if (caller?.by !== 'user') throw new Error(`${request.routeOptions.url} is served without a session`);
  return caller.session;
};

export const sessionEnded = (): AppError =>
  new AppError('unauthorized', 'you are not signed in', {
    details: [{ path: 'cookie', message: 'you are not signed in, or your session has ended: sign in' }],
  });
