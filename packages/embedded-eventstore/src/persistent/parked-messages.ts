import { randomUUID } from 'node:crypto';
import { METADATA_TYPE, metastreamOf, type ProposedEvent, type RecordedEvent, TOMBSTONE } from '../events.ts';
import { linkTo } from '../links.ts';
import { RefusedError } from '../refusals.ts';
import type { Store } from '../store.ts';

export const PARKED_PREFIX = '$persistentsubscription-';
export const PARKED_SUFFIX = '-parked';
export const parkedStreamOf = (source: string, group: string): string =>
  `${PARKED_PREFIX}${source}::${group}${PARKED_SUFFIX}`;

/** The stream of links to what a group gave up on, in which everybody can read why. */
export class ParkedMessages {
  readonly #store: Store;
  readonly #stream: string;

  constructor(store: Store, stream: string) {
    this.#store = store;
    this.#stream = stream;
  }

  /** Resolves once it is committed. `id` is of the link: with the same one it is written once. */
  async add(event: RecordedEvent, reason: string, atMs: number, id: string): Promise<void> {
    const why = { added: new Date(atMs).toISOString(), reason, subscriptionEventNumber: Number(event.revision) };
    await this.#append(this.#stream, linkTo(event, id, Buffer.from(JSON.stringify(why))));
  }

  /** Revision after the last one. */
  async end(): Promise<bigint> {
    return (await this.#store.reader.streamBackwards(this.#stream, TOMBSTONE, 1)).last + 1n;
  }

  /** Links from `from` on and before `end`, oldest first. */
  async *between(from: bigint, end: bigint): AsyncGenerator<RecordedEvent> {
    for (let next = from; next < end;) {
      const page = await this.#store.reader.streamForwards(this.#stream, next);
      for (const link of page.events) if (link.revision < end) yield link;
      if (page.isEnd) return;
      next = page.next;
    }
  }

  async count(): Promise<bigint> {
    const { status, first, last } = await this.#store.reader.streamForwards(this.#stream, TOMBSTONE, 1);
    return status === 'exists' && last >= first ? last - first + 1n : 0n;
  }

  /** Forgets what stands before `revision`. */
  async truncate(revision: bigint): Promise<void> {
    const data = Buffer.from(JSON.stringify({ $tb: Number(revision) }));
    const metadata = new Uint8Array();
    await this.#append(metastreamOf(this.#stream), {
      id: randomUUID(),
      type: METADATA_TYPE,
      isJson: true,
      data,
      metadata,
    });
  }

  async clear(): Promise<void> {
    try {
      await this.#store.writer.execute({ kind: 'delete', stream: this.#stream, expected: 'any' });
    } catch (error) {
      const kind = error instanceof RefusedError ? error.refusal.kind : null;
      if (kind !== 'wrong-revision' && kind !== 'stream-deleted') throw error; // there was none
    }
  }

  async #append(stream: string, event: ProposedEvent): Promise<void> {
    await this.#store.writer.execute({ kind: 'append', stream, expected: 'any', events: [event] });
  }
}
