import type { RecordedEvent } from './events.ts';
import { unavailable } from './refusals.ts';

const KEPT_EVENTS = 2_048;
const KEPT_BYTES = 16 * 1024 * 1024;

/** The most recent events of the log, in memory, for live subscriptions. A subscriber is only a position in the log.
 *  A slow subscriber has no queue that could grow: once the tail no longer has its position, it reads the database. */
export class LiveTail {
  #head: bigint | null = null;
  /** The tail has every event after this position that is not removed. */
  #start = 0n;
  #events: RecordedEvent[] = [];
  #bytes = 0;
  #waiting = new Set<() => void>();

  /** Position of the last committed event. Throws `unavailable` until the writer has loaded it. */
  get head(): bigint {
    if (this.#head === null) throw unavailable('the event store is not ready');
    return this.#head;
  }

  /** Empties the tail. `head` is the position of the last committed event. */
  reset(head: bigint): void {
    this.#head = head;
    this.#start = head;
    this.#events = [];
    this.#bytes = 0;
    this.#wake();
  }

  /** Adds newly committed events. They must follow `head`. */
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

  /** Evicts the events that match: they are removed from the log. The last event of the log never is. */
  remove(isRemoved: (event: RecordedEvent) => boolean): void {
    this.#events = this.#events.filter((event) => !isRemoved(event));
    this.#bytes = this.#events.reduce((bytes, event) => bytes + bytesOf(event), 0);
  }

  /** Up to `limit` events after `position`. Empty at the end of the log; null if the tail does not have them. */
  after(position: bigint, limit: number): readonly RecordedEvent[] | null {
    if (position >= this.head) return [];
    const index = this.#indexAfter(position);
    if (position < this.#start || index === this.#events.length) return null;
    return this.#events.slice(index, index + limit);
  }

  /** Binary search, because removed events leave gaps. */
  #indexAfter(position: bigint): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.position > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Resolves once the log has events after `position`, the tail is reset, or `signal` aborts. */
  waitForChange(position: bigint, signal: AbortSignal): Promise<void> {
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

  /** Evicts the oldest events, down to half of the limit at once, so that the cost per event is small. */
  #trim(): void {
    if (this.#events.length <= 2 * KEPT_EVENTS && this.#bytes <= 2 * KEPT_BYTES) return;
    let drop = 0;
    while (this.#events.length - drop > KEPT_EVENTS || (this.#bytes > KEPT_BYTES && drop < this.#events.length)) {
      this.#bytes -= bytesOf(this.#events[drop++]!);
    }
    this.#start = this.#events[drop - 1]!.position;
    this.#events = this.#events.slice(drop);
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}

const EVENT_BYTES = 400;
const bytesOf = (event: RecordedEvent): number => EVENT_BYTES + event.data.length + event.metadata.length;
