import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 16;

/** A new token of a claim link: 128 random bits. */
export const newClaimToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** SHA-256, in hexadecimal: a token is stored nowhere. Null for a text that no token is. */
export const hashOfClaimToken = (token: string): string | null =>
  /^[\da-f]{32}$/.test(token) ? createHash('sha256').update(token).digest('hex') : null;
