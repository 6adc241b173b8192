/** An event that a client wants to append. */
export interface ProposedEvent {
  /** UUID, lower case. */
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** A committed event. Its bytes are those that the client sent. */
export interface RecordedEvent extends ProposedEvent {
  /** Position in the log of all streams: from 1, without gaps. It serves as commit and prepare position. */
  readonly position: bigint;
  readonly stream: string;
  /** Number of the event in its stream: from 0; TOMBSTONE for the event that tombstones the stream. */
  readonly revision: bigint;
  /** Time of the append in units of 100 ns since 1970-01-01T00:00:00Z, as `created` in the protocol. */
  readonly createdTicks: bigint;
}

/** State of the stream that an append requires: any, absent, present, or its last revision. */
export type ExpectedRevision = 'any' | 'no_stream' | 'stream_exists' | bigint;

/** Last revision of a stream without events. */
export const NO_REVISION = -1n;

/** 2^63 - 1: the revision of a tombstone event, and the `$tb` of a soft-deleted stream. */
export const TOMBSTONE = 9_223_372_036_854_775_807n;

export const METADATA_TYPE = '$metadata';
export const DELETED_TYPE = '$streamDeleted';

const META_PREFIX = '$$';
export const isMetastream = (stream: string): boolean => stream.startsWith(META_PREFIX);
export const metastreamOf = (stream: string): string => META_PREFIX + stream;
export const originalStreamOf = (metastream: string): string => metastream.slice(META_PREFIX.length);

/** Size of the event in bytes, as counted for the limit of one append. Source: `Event.SizeOnDisk` of EventStoreDB. */
export const sizeOf = (event: ProposedEvent): number =>
  event.data.length + event.metadata.length + event.type.length * 2;

const TICKS_PER_MS = 10_000n;
export const ticksOf = (epochMs: number): bigint => BigInt(epochMs) * TICKS_PER_MS;

/** A change of one stream. */
export type Command =
  | {
      readonly kind: 'append';
      readonly stream: string;
      readonly expected: ExpectedRevision;
      readonly events: readonly ProposedEvent[];
    }
  | { readonly kind: 'delete' | 'tombstone'; readonly stream: string; readonly expected: ExpectedRevision };

export interface WriteResult {
  /** The last revision written, NO_REVISION for none. */
  readonly revision: bigint;
  /** Position of that event in the log, null for none. */
  readonly position: bigint | null;
}
