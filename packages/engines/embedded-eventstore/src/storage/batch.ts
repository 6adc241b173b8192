import { randomUUID } from 'node:crypto';
import {
  type Command,
  DELETED_TYPE,
  type ExpectedRevision,
  isMetastream,
  METADATA_TYPE,
  metastreamOf,
  NO_REVISION,
  originalStreamOf,
  type ProposedEvent,
  type RecordedEvent,
  TOMBSTONE,
  type WriteResult,
} from '../events.ts';
import { streamDeleted, wrongRevision } from '../refusals.ts';
import { type EventLocation, type EventLocations, resultOfRetry } from './idempotency.ts';
import { isSoftDeleted, retentionOf, SOFT_DELETE_METADATA, undeleteMetadata } from './metadata.ts';
import type { StreamHead } from './stream-heads.ts';

/** The streams whose heads are needed to decide `command`. */
export const requiredStreams = ({ stream }: Command): [string, string] =>
  isMetastream(stream) ? [stream, originalStreamOf(stream)] : [stream, metastreamOf(stream)];

/** Decides commands one after another, each on the state that the earlier ones left, and collects their events.
 *  It does no I/O: the writer stores `events` as a whole, or discards the batch. */
export class Batch {
  readonly heads: Map<string, StreamHead>;
  readonly events: RecordedEvent[] = [];
  readonly #locations: EventLocations;
  readonly #createdTicks: bigint;
  #position: bigint;

  /** `lastPosition` is the end of the log; `heads` and `locations` are the stored state of the streams. */
  constructor(lastPosition: bigint, heads: Map<string, StreamHead>, locations: EventLocations, createdTicks: bigint) {
    this.#position = lastPosition;
    this.heads = heads;
    this.#locations = locations;
    this.#createdTicks = createdTicks;
  }

  /** Throws RefusedError for a deleted stream or a wrong revision, and then leaves the batch unchanged. */
  apply(command: Command): WriteResult {
    switch (command.kind) {
      case 'append':
        return this.#append(command.stream, command.expected, command.events);
      case 'delete':
        return this.#softDelete(command.stream, command.expected);
      case 'tombstone':
        return this.#tombstone(command.stream, command.expected);
    }
  }

  #append(stream: string, expected: ExpectedRevision, events: readonly ProposedEvent[]): WriteResult {
    const ids = events.map(({ id }) => id);
    const earlier = this.#check(stream, expected, ids);
    if (earlier) return earlier;
    const before = this.#head(stream).revision;
    if (events.length === 0) return { revision: before, position: null };

    const original = isMetastream(stream) ? originalStreamOf(stream) : stream;
    const mustUndelete = this.#isSoftDeleted(original);
    let revision = before;
    for (const event of events) this.#write(stream, ++revision, event);
    const result = { revision, position: this.#position };
    if (mustUndelete) this.#undelete(original, (original === stream ? before : this.#head(original).revision) + 1n);
    return result;
  }

  #softDelete(stream: string, expected: ExpectedRevision): WriteResult {
    const deletion = systemEvent(METADATA_TYPE, true, SOFT_DELETE_METADATA);
    this.#check(stream, expected, [deletion.id]);
    const metastream = metastreamOf(stream);
    const { revision } = this.#head(metastream);
    if (this.#head(stream).revision < 0n && revision < 0n) throw wrongRevision(stream, expected, NO_REVISION);
    this.#write(metastream, revision + 1n, deletion);
    return { revision: revision + 1n, position: this.#position };
  }

  #tombstone(stream: string, expected: ExpectedRevision): WriteResult {
    const deletion = systemEvent(DELETED_TYPE, false, new Uint8Array());
    this.#check(stream, expected, [deletion.id]);
    this.#write(stream, TOMBSTONE, deletion);
    return { revision: TOMBSTONE, position: this.#position };
  }

  #undelete(stream: string, firstRevision: bigint): void {
    const metastream = metastreamOf(stream);
    const { revision, metadata } = this.#head(metastream);
    const data = undeleteMetadata(metadata, firstRevision);
    if (data) this.#write(metastream, revision + 1n, systemEvent(METADATA_TYPE, true, data));
  }

  /** Result of the earlier write that this one repeats, or null for a new write. */
  #check(stream: string, expected: ExpectedRevision, ids: readonly string[]): WriteResult | null {
    const { revision: last } = this.#head(stream);
    if (last === TOMBSTONE || this.#isMetadataOfTombstoned(stream)) throw streamDeleted(stream);
    const softDeleted = this.#isSoftDeleted(stream);
    if (expected === 'stream_exists') {
      if (softDeleted) throw streamDeleted(stream);
      if (last < 0n && this.#head(metastreamOf(stream)).revision < 0n) throw wrongRevision(stream, expected, last);
    }
    const locationsOf = (id: string) => this.#locations.get(stream)?.get(id) ?? [];
    return resultOfRetry({ stream, expected, last, isSoftDeleted: softDeleted, ids, locationsOf });
  }

  #write(stream: string, revision: bigint, event: ProposedEvent): void {
    const position = ++this.#position;
    this.events.push({ ...event, stream, revision, position, createdTicks: this.#createdTicks });
    this.heads.set(stream, { revision, metadata: isMetastream(stream) ? Buffer.from(event.data) : null });
    const ids = this.#locations.get(stream) ?? new Map<string, EventLocation[]>();
    ids.set(event.id, [...(ids.get(event.id) ?? []), { revision, position }]);
    this.#locations.set(stream, ids);
  }

  #head(stream: string): StreamHead {
    return this.heads.get(stream) ?? { revision: NO_REVISION, metadata: null };
  }

  #isMetadataOfTombstoned(stream: string): boolean {
    return isMetastream(stream) && this.#head(originalStreamOf(stream)).revision === TOMBSTONE;
  }

  #isSoftDeleted(stream: string): boolean {
    return isSoftDeleted(retentionOf(stream, this.#head(metastreamOf(stream)).metadata));
  }
}

const systemEvent = (type: string, isJson: boolean, data: Uint8Array): ProposedEvent => ({
  id: randomUUID(),
  type,
  isJson,
  data,
  metadata: new Uint8Array(),
});
