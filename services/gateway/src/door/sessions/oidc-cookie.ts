import type { SecretBox } from '@cpg/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

const NAME = '__Host-oidc';
/** For box.seal: no other box can be put into the cookie. */
const ROW = 'cookie of OpenID Connect';
// Lax: the provider sends the browser back from another site.
const OPTIONS = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;

/** How long a user may take at the provider. */
export const OIDC_COOKIE_MS = 10 * 60_000;

const OidcCookie = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The page to open afterwards. */
  next: z.string(),
  /** The tokens of the browser's other cookies. */
  knownAs: z.string().optional(),
  sessionToken: z.string().optional(),
  expiresAt: z.iso.datetime(),
});
type OidcCookie = z.infer<typeof OidcCookie>;

/** Keeps a sign-in that has begun in the browser, encrypted: any gateway can end it, and nothing is stored. */
export const setOidcCookie = (reply: FastifyReply, box: SecretBox, flow: Loose<OidcCookie>): void => {
  reply.setCookie(NAME, box.seal(JSON.stringify(flow), ROW), { ...OPTIONS, maxAge: OIDC_COOKIE_MS / 1_000 });
};

type Loose<T> = { readonly [K in keyof T]: T[K] | undefined };

/** Null without the cookie, or with one that no gateway made. */
export const oidcCookieOf = ({ cookies }: FastifyRequest, box: SecretBox): OidcCookie | null => {
  try {
    return OidcCookie.parse(JSON.parse(box.open(cookies[NAME] ?? '', ROW)));
  } catch {
    return null;
  }
};

export const clearOidcCookie = (reply: FastifyReply): void => {
  reply.clearCookie(NAME, OPTIONS);
};
