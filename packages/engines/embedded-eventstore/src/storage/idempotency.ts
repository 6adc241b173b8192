import { type Command, type ExpectedRevision, NO_REVISION, TOMBSTONE, type WriteResult } from '../events.ts';
import { wrongRevision } from '../refusals.ts';
import type { StreamHead } from './stream-heads.ts';

/** Where an event is stored. */
export interface EventLocation {
  readonly revision: bigint;
  readonly position: bigint;
}

/** Stream -> event id -> where events of that id are stored in the stream, oldest first. */
export type EventLocations = Map<string, Map<string, EventLocation[]>>;

/** Whether the command may repeat one that is stored, so that its event ids must be looked up first. */
export const mayBeRetry = (command: Command, head: StreamHead): boolean => {
  if (command.kind !== 'append' || head.revision === NO_REVISION || head.revision === TOMBSTONE) return false;
  const { expected } = command;
  return expected === 'any' || expected === 'stream_exists' || expected === 'no_stream' || expected < head.revision;
};

/** A write to a stream that is not tombstoned. */
export interface CheckedWrite {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** Last revision of the stream. */
  readonly last: bigint;
  readonly isSoftDeleted: boolean;
  /** Ids of the events, in their order. */
  readonly ids: readonly string[];
  readonly locationsOf: (id: string) => readonly EventLocation[];
}

/** Result of the earlier write that this one repeats, or null for a new write.
 *  Throws a refusal of kind `wrong-revision`. Source: `IndexWriter.CheckCommit` of EventStoreDB, except that every
 *  event id is looked up, however old it is. */
export const resultOfRetry = (write: CheckedWrite): WriteResult | null =>
  write.expected === 'any' || write.expected === 'stream_exists'
    ? retryAnywhere(write)
    : retryAt(write, write.expected === 'no_stream' ? NO_REVISION : write.expected);

const retryAnywhere = ({ stream, expected, last, ids, locationsOf }: CheckedWrite): WriteResult | null => {
  const locations = ids.map((id) => locationsOf(id).at(-1));
  if (!locations[0]) return null;
  if (locations.includes(undefined)) throw wrongRevision(stream, expected, last);
  return locations.at(-1) ?? null;
};

const retryAt = (write: CheckedWrite, expectedLast: bigint): WriteResult | null => {
  const { stream, expected, last, isSoftDeleted, ids, locationsOf } = write;
  if (expectedLast === last) return null;
  if (expectedLast > last) throw wrongRevision(stream, expected, last);
  const locations = ids.map((id, i) =>
    locationsOf(id).find(({ revision }) => revision === expectedLast + 1n + BigInt(i)),
  );
  if (ids.length > 0 && !locations[0] && expected === 'no_stream' && isSoftDeleted) return null;
  if (ids.length === 0 || locations.includes(undefined)) throw wrongRevision(stream, expected, last);
  return locations.at(-1) ?? null;
};
