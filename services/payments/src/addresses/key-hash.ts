import { createHash } from 'node:crypto';

/** SHA-256 of an xpub, in hexadecimal. */
export const keyHashOf = (xpub: string): string => createHash('sha256').update(xpub).digest('hex');
