/** An event as a client wants it stored. */
export interface ProposedEvent {
  /** UUID, lower case. */
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event of the log. Bytes are those that were proposed. */
export interface RecordedEvent extends ProposedEvent {
  /** Place in the log of all streams: from 1, without gaps. Commit and prepare position alike. */
  readonly position: bigint;
  readonly stream: string;
  /** Place in its stream: from 0; TOMBSTONE for the event that closes a stream for good. */
  readonly revision: bigint;
  /** 100 ns units since 1970-01-01T00:00:00Z, as the protocol's `created` says it. */
  readonly createdTicks: bigint;
}

/** What an append demands of the stream before it: nothing, absence, presence, or its last revision. */
export type Expectation = 'any' | 'no_stream' | 'stream_exists' | bigint;

/** Last revision of a stream that has no events. */
export const NO_REVISION = -1n;

/** Revision of the event that closes a stream for good, and the `$tb` that hides all of its events: 2^63 - 1. */
export const TOMBSTONE = 9_223_372_036_854_775_807n;

export const METADATA_TYPE = '$metadata';
export const DELETED_TYPE = '$streamDeleted';

const META_PREFIX = '$$';
export const isMetastream = (stream: string): boolean => stream.startsWith(META_PREFIX);
export const metastreamOf = (stream: string): string => META_PREFIX + stream;
export const originalOf = (metastream: string): string => metastream.slice(META_PREFIX.length);

/** Size that counts towards the limit of one append. Source: `Event.SizeOnDisk` of EventStoreDB. */
export const sizeOf = (event: ProposedEvent): number =>
  event.data.length + event.metadata.length + event.type.length * 2;

const TICKS_PER_MS = 10_000n;
export const ticksOf = (epochMs: number): bigint => BigInt(epochMs) * TICKS_PER_MS;
