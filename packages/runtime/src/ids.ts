import { createHash, randomFillSync } from 'node:crypto';
import { ID_PREFIXES } from '@cpg/contracts';
import { monotonicFactory, uuidToULID } from 'ulid';

const randomBytes = Buffer.alloc(4_096);
let usedBytes = randomBytes.length;

// `ulid` asks for one random number per character. The buffer turns hundreds of these calls into one system call.
const random = (): number => {
  if (usedBytes === randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  return randomBytes[usedBytes++]! / 256;
};

const ulid = monotonicFactory(random);

/** A new ULID. Within one process, later ULIDs sort after earlier ones. */
export const newUlid = (now: Date = new Date()): string => ulid(now.getTime());

const UUID_GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/;

/** The ULID of the first 128 bits of the SHA-256 of a text: the same text always has the same one. It contains no
 *  time. */
export const ulidOf = (text: string): string =>
  uuidToULID(createHash('sha256').update(text).digest('hex').toUpperCase().replace(UUID_GROUPS, '$1-$2-$3-$4-$5'));

/** A new id: the prefix of its kind, `_` and a ULID. */
export const newId = (kind: keyof typeof ID_PREFIXES, now?: Date): string => `${ID_PREFIXES[kind]}_${newUlid(now)}`;

export const newRequestId = (): string => `req_${newUlid()}`;
