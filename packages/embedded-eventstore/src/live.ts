import type { RecordedEvent } from './events.ts';
import { unavailable } from './refusals.ts';

const KEEP_EVENTS = 2_048;
const KEEP_BYTES = 16 * 1024 * 1024;

/** The youngest part of the log, in memory: what live subscriptions are fed from. A subscriber is a position in
 *  the log, nothing is queued for it, so a slow one costs no memory: it falls off the tail and reads the database. */
export class LiveTail {
  #head: bigint | null = null;
  #events: RecordedEvent[] = [];
  #bytes = 0;
  #waiting = new Set<() => void>();

  /** Position of the last committed event. Throws `unavailable` until it is known. */
  get head(): bigint {
    if (this.#head === null) throw unavailable('the event store is not ready');
    return this.#head;
  }

  /** Forgets the tail: the log ends at `head`, and what it holds must be read from the database. */
  reset(head: bigint): void {
    this.#head = head;
    this.#events = [];
    this.#bytes = 0;
    this.#wake();
  }

  /** Adds what was just committed, in order, right after `head`. */
  push(events: readonly RecordedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += bytesOf(event);
    }
    this.#head = last.position;
    this.#trim();
    this.#wake();
  }

  /** Up to `limit` events after `position`, none if it is the end of the log; null if the tail starts later. */
  after(position: bigint, limit: number): readonly RecordedEvent[] | null {
    if (position >= this.head) return [];
    const first = this.#events[0];
    if (!first || position + 1n < first.position) return null;
    const index = Number(position + 1n - first.position);
    return this.#events.slice(index, index + limit);
  }

  /** Resolves once the log reaches beyond `position`, the tail was reset, or `signal` is aborted. */
  changed(position: bigint, signal: AbortSignal): Promise<void> {
    if (this.head > position || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Cuts in large steps, so that keeping the bound costs nothing per event. */
  #trim(): void {
    if (this.#events.length <= 2 * KEEP_EVENTS && this.#bytes <= 2 * KEEP_BYTES) return;
    let drop = 0;
    while (this.#events.length - drop > KEEP_EVENTS || (this.#bytes > KEEP_BYTES && drop < this.#events.length)) {
      this.#bytes -= bytesOf(this.#events[drop++]!);
    }
    this.#events = this.#events.slice(drop);
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}

const EVENT_BYTES = 400;
const bytesOf = (event: RecordedEvent): number => EVENT_BYTES + event.data.length + event.metadata.length;
