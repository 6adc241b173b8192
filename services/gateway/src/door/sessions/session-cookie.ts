import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Browser } from '../../identity/signed-in.ts';
import { isToken } from '../../identity/tokens.ts';

// With the prefix __Host-, browsers take the cookie from this host alone, over https or from the machine itself.
const SESSION = '__Host-session';
const BROWSER = '__Host-browser';
const OPTIONS = { path: '/', secure: true, httpOnly: true, sameSite: 'strict' } as const;
const BROWSER_DAYS = 180;
const MAX_USER_AGENT = 200;

/** The token of the session that the browser sends. */
export const sessionTokenOf = ({ cookies }: FastifyRequest): string | undefined => cookies[SESSION];

/** A text of another form is no token of ours: it would be easy to guess. */
const browserTokenOf = ({ cookies }: FastifyRequest): string | undefined => {
  const token = cookies[BROWSER];
  return token !== undefined && isToken(token) ? token : undefined;
};

/** The browser of a request, with the token that tells browsers apart in which a user signed in before. */
export const browserOf = (request: FastifyRequest): Browser => ({
  address: request.ip,
  userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
  knownAs: browserTokenOf(request),
  sessionToken: sessionTokenOf(request),
});

export const setSessionCookies = (
  reply: FastifyReply,
  { sessionToken, browserToken, expiresAt }: { sessionToken: string; browserToken: string; expiresAt: Date },
): void => {
  reply.setCookie(SESSION, sessionToken, { ...OPTIONS, expires: expiresAt });
  reply.setCookie(BROWSER, browserToken, { ...OPTIONS, maxAge: BROWSER_DAYS * 24 * 60 * 60 });
};

export const clearSessionCookie = (reply: FastifyReply): void => {
  reply.clearCookie(SESSION, OPTIONS);
};
