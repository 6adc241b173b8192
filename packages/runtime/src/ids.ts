import { randomFillSync } from 'node:crypto';
import { ID_PREFIXES } from '@cpg/contracts';
import { monotonicFactory } from 'ulid';

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

/** A new id: the prefix of its kind, `_` and a ULID. */
export const newId = (kind: keyof typeof ID_PREFIXES, now?: Date): string => `${ID_PREFIXES[kind]}_${newUlid(now)}`;

export const newRequestId = (): string => `req_${newUlid()}`;
