import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** A line of an export. */
export interface RecordedEvent {
  readonly stream: string;
  readonly sequence: number;
  readonly type: string;
  readonly at: string;
  /** When the event store recorded it. No hash covers it. */
  readonly recorded_at?: string;
  readonly previous_hash: string;
  readonly hash: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Where an event stands, as the log says it. */
export const placeOf = ({ sequence, stream }: Pick<RecordedEvent, 'sequence' | 'stream'>): string =>
  `${sequence}@${stream}`;

/** Null if the line is none. */
export const readEvent = (line: string): RecordedEvent | null => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { stream, sequence, type, at, previous_hash, hash, data } = value as Record<string, unknown>;
  const areTexts = [stream, type, at, previous_hash, hash].every((field) => typeof field === 'string');
  const isEvent = areTexts && Number.isSafeInteger(sequence) && typeof data === 'object' && data !== null;
  return isEvent ? (value as RecordedEvent) : null;
};

/** What the next event of a stream refers to. */
export type Link = Pick<RecordedEvent, 'sequence' | 'hash'>;

/** What is wrong with an event after the one before it on its stream, null for the first one. */
export const faultOf = (event: RecordedEvent, before: Link | null): string | null => {
  const expected = before ? before.sequence + 1 : 0;
  if (event.sequence > expected) return `event ${expected} before it is missing`;
  if (event.sequence < expected) return 'it is there twice, or in the wrong place';
  if (event.previous_hash !== (before?.hash ?? sha256(event.stream)))
    return 'its previous_hash is not the hash of the event before it';
  if (event.hash !== hashOf(event)) return 'its hash does not match its content';
  if (event.at !== event.data.at) return 'its time is not the one in its data';
  return null;
};

// The text that is hashed: docs/auditors.md, "The hash".
const hashOf = (event: RecordedEvent): string => {
  const { hash: _hash, at: _at, recorded_at: _recordedAt, ...hashed } = event;
  return sha256(`cpg event 2\n${canonicalJson(hashed)}`);
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
