import { randomFillSync } from 'node:crypto';
import { ID_PREFIXES } from '@cpg/contracts';
import { monotonicFactory } from 'ulid';

const pool = Buffer.alloc(4_096);
let used = pool.length;

// `ulid` asks for each of its 16 random characters by itself: one call to the system serves hundreds of ids.
const randomByte = (): number => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++]! / 256;
};

const ulid = monotonicFactory(randomByte);

/** A new ULID; later ones of this process sort after earlier ones. */
export const newUlid = (now: Date = new Date()): string => ulid(now.getTime());

/** A new id: prefix and ULID. */
export const newId = (kind: keyof typeof ID_PREFIXES, now?: Date): string => `${ID_PREFIXES[kind]}_${newUlid(now)}`;

export const newRequestId = (): string => `req_${newUlid()}`;
