import { randomFillSync } from 'node:crypto';
import { ID_PREFIXES } from '@cpg/contracts';
import { wallClock } from './clock/own-clocks.ts';
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

/** By how much the clock may go back until ids follow it: a step, and not only an adjustment. */
const STEP_BACK_MS = 1_000;
let ulid = monotonicFactory(random);
let latestMs = -Infinity;

/** A new ULID. Within one process, later ULIDs sort after earlier ones, unless the clock was set back: then they would
 *  bear times of the future. */
export const newUlid = (now: Date = wallClock()): string => {
  const ms = now.getTime();
  if (ms < latestMs - STEP_BACK_MS) {
    ulid = monotonicFactory(random);
    latestMs = ms;
  }
  latestMs = Math.max(latestMs, ms);
  return ulid(ms);
};

/** A new id: the prefix of its kind, `_` and a ULID. */
export const newId = (kind: keyof typeof ID_PREFIXES, now?: Date): string => `${ID_PREFIXES[kind]}_${newUlid(now)}`;

export const newRequestId = (): string => `req_${newUlid()}`;
