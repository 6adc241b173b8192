import { randomUUID } from 'node:crypto';
import type { Expectation, ProposedEvent, RecordedEvent } from '../events.ts';
import {
  DELETED_TYPE,
  isMetastream,
  METADATA_TYPE,
  metastreamOf,
  NO_REVISION,
  originalOf,
  TOMBSTONE,
} from '../events.ts';
import { RefusedError } from '../refusals.ts';
import type { Head } from './heads.ts';
import { isSoftDeleted, retentionOf, SOFT_DELETED, undeleted } from './metadata.ts';

export type Command =
  | {
      readonly kind: 'append';
      readonly stream: string;
      readonly expected: Expectation;
      readonly events: readonly ProposedEvent[];
    }
  | { readonly kind: 'delete' | 'tombstone'; readonly stream: string; readonly expected: Expectation };

/** What a command left behind: the last revision it wrote (NO_REVISION for none) and where that is in the log. */
export interface Written {
  readonly revision: bigint;
  readonly position: bigint | null;
}

/** A place where an event id was found. */
export interface Place {
  readonly revision: bigint;
  readonly position: bigint;
}

/** The streams whose heads decide about `command`. */
export const streamsOf = ({ stream }: Command): [string, string] =>
  isMetastream(stream) ? [stream, originalOf(stream)] : [stream, metastreamOf(stream)];

/** True if `command` may be a repeat of one that was written, so its event ids have to be looked up first. */
export const mayBeRepeat = (command: Command, head: Head): boolean => {
  if (command.kind !== 'append' || head.revision === NO_REVISION || head.revision === TOMBSTONE) return false;
  const { expected } = command;
  return expected === 'any' || expected === 'stream_exists' || expected === 'no_stream' || expected < head.revision;
};

/** Commands decided one after another, each seeing those before it, and the events they add to the log.
 *  Nothing here touches the database: the writer stores `events` as a whole, or forgets the batch. */
export class Batch {
  readonly heads: Map<string, Head>;
  readonly events: RecordedEvent[] = [];
  readonly #places: Map<string, Map<string, Place[]>>;
  readonly #createdTicks: bigint;
  #position: bigint;

  /** `lastPosition` is that of the log; `heads` and `places` are what the database knows of the commands. */
  constructor(
    lastPosition: bigint,
    heads: Map<string, Head>,
    places: Map<string, Map<string, Place[]>>,
    createdTicks: bigint,
  ) {
    this.#position = lastPosition;
    this.heads = heads;
    this.#places = places;
    this.#createdTicks = createdTicks;
  }

  /** Throws RefusedError when the stream is closed or not as expected; the batch is then as it was before. */
  apply(command: Command): Written {
    switch (command.kind) {
      case 'append':
        return this.#append(command.stream, command.expected, command.events);
      case 'delete':
        return this.#softDelete(command.stream, command.expected);
      case 'tombstone':
        return this.#tombstone(command.stream, command.expected);
    }
  }

  #append(stream: string, expected: Expectation, events: readonly ProposedEvent[]): Written {
    const repeated = this.#check(
      stream,
      expected,
      events.map(({ id }) => id),
    );
    if (repeated) return repeated;
    const before = this.#head(stream).revision;
    if (events.length === 0) return { revision: before, position: null };

    const hidden = isMetastream(stream) ? originalOf(stream) : stream;
    const undelete = this.#isSoftDeleted(hidden);
    let revision = before;
    for (const event of events) this.#write(stream, ++revision, event);
    const written = { revision, position: this.#position };
    if (undelete) this.#undelete(hidden, (hidden === stream ? before : this.#head(hidden).revision) + 1n);
    return written;
  }

  #softDelete(stream: string, expected: Expectation): Written {
    const deletion = systemEvent(METADATA_TYPE, true, SOFT_DELETED);
    this.#check(stream, expected, [deletion.id]);
    const metastream = metastreamOf(stream);
    const { revision } = this.#head(metastream);
    if (this.#head(stream).revision < 0n && revision < 0n) throw wrongRevision(stream, expected, NO_REVISION);
    this.#write(metastream, revision + 1n, deletion);
    return { revision: revision + 1n, position: this.#position };
  }

  #tombstone(stream: string, expected: Expectation): Written {
    const deletion = systemEvent(DELETED_TYPE, false, new Uint8Array());
    this.#check(stream, expected, [deletion.id]);
    this.#write(stream, TOMBSTONE, deletion);
    return { revision: TOMBSTONE, position: this.#position };
  }

  #undelete(stream: string, firstRevision: bigint): void {
    const metastream = metastreamOf(stream);
    const { revision, metadata } = this.#head(metastream);
    const data = undeleted(metadata, firstRevision);
    if (data) this.#write(metastream, revision + 1n, systemEvent(METADATA_TYPE, true, data));
  }

  /** Returns what was written before if events of these ids are a repeat of it, null if there is something to write.
   *  Source: `IndexWriter.CheckCommit` of EventStoreDB, except that ids are looked up however old they are. */
  #check(stream: string, expected: Expectation, ids: readonly string[]): Written | null {
    const { revision: last } = this.#head(stream);
    if (last === TOMBSTONE) throw streamDeleted(stream);
    const softDeleted = this.#isSoftDeleted(stream);

    if (expected === 'stream_exists') {
      if (softDeleted) throw streamDeleted(stream);
      if (last < 0n && this.#head(metastreamOf(stream)).revision < 0n) throw wrongRevision(stream, expected, last);
    }
    if (expected === 'any' || expected === 'stream_exists') {
      const places = ids.map((id) => this.#placesOf(stream, id).at(-1));
      if (!places[0]) return null;
      if (places.includes(undefined)) throw wrongRevision(stream, expected, last);
      return places.at(-1) ?? null;
    }

    const wanted = expected === 'no_stream' ? NO_REVISION : expected;
    if (wanted === last) return null;
    if (wanted > last) throw wrongRevision(stream, expected, last);
    const places = ids.map((id, i) =>
      this.#placesOf(stream, id).find(({ revision }) => revision === wanted + 1n + BigInt(i)),
    );
    if (ids.length > 0 && !places[0] && expected === 'no_stream' && softDeleted) return null;
    if (ids.length === 0 || places.includes(undefined)) throw wrongRevision(stream, expected, last);
    return places.at(-1) ?? null;
  }

  #write(stream: string, revision: bigint, event: ProposedEvent): void {
    const position = ++this.#position;
    this.events.push({ ...event, stream, revision, position, createdTicks: this.#createdTicks });
    this.heads.set(stream, { revision, metadata: isMetastream(stream) ? Buffer.from(event.data) : null });
    const ids = this.#places.get(stream) ?? new Map<string, Place[]>();
    ids.set(event.id, [...(ids.get(event.id) ?? []), { revision, position }]);
    this.#places.set(stream, ids);
  }

  #head(stream: string): Head {
    return this.heads.get(stream) ?? { revision: NO_REVISION, metadata: null };
  }

  #placesOf(stream: string, id: string): Place[] {
    return this.#places.get(stream)?.get(id) ?? [];
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

const streamDeleted = (stream: string) => new RefusedError({ kind: 'stream-deleted', stream });
const wrongRevision = (stream: string, expected: Expectation, actual: bigint) =>
  new RefusedError({ kind: 'wrong-revision', stream, expected, actual });
