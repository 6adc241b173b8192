import { ID_PREFIXES } from '@cpg/contracts';
import { monotonicFactory } from 'ulid';

const ulid = monotonicFactory();

/** A new id: prefix and ULID, later ones of this process sorting after earlier ones. */
export const newId = (kind: keyof typeof ID_PREFIXES, now: Date = new Date()): string =>
  `${ID_PREFIXES[kind]}_${ulid(now.getTime())}`;

export const newRequestId = (): string => `req_${ulid()}`;
