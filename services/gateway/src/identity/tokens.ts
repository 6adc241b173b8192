import { createHash, randomBytes } from 'node:crypto';

/** A random secret of 256 bits, in base64url. It is stored only as its hash. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Whether a text has the form of a token. */
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** The SHA-256 of a token, in base64url. A random secret needs no slow hash. */
export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('base64url');

/** The token that requests of a session send beside the cookie. It follows from the token of the session, so no other
 *  session has it, and does not reveal it. */
export const csrfTokenOf = (sessionToken: string): string =>
  createHash('sha256').update('csrf').update(sessionToken).digest('base64url');
