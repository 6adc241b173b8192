import { invalidRequest } from '@cpg/contracts';

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/** An opaque cursor for clients: base64url of a position in a history. */
export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url');

/** The position in a cursor of the query parameter `after`; undefined without a cursor. Throws `invalid_request` for
 *  other text. */
export const decodeCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (!PRINTABLE_ASCII.test(position) || encodeCursor(position) !== cursor)
    throw invalidRequest([{ path: 'after', message: 'must be the `next` of an earlier response' }]);
  return position;
};
