import { baseOffsetOf, lastOffsetOf } from '../records/batch.ts';

/** The cached batches of one partition: the newest ones, in order and without gaps. */
export type Tail = Queue<Buffer>;

/** Approximate memory for a buffer beside its bytes. Small batches take a multiple of their own size. */
const OVERHEAD_BYTES = 512;

export const memoryBytesOf = (batch: Buffer): number => batch.length + OVERHEAD_BYTES;

/** Caches the newest batches of all partitions, up to `maxBytes` together, for the consumers at the end of a log.
 *  Evicts the oldest batch first, whatever its partition. */
export class TailCache {
  private readonly maxBytes: number;
  private readonly order = new Queue<Tail>();
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  add(tail: Tail, batch: Buffer): void {
    tail.push(batch);
    this.order.push(tail);
    this.bytes += memoryBytesOf(batch);
    while (this.bytes > this.maxBytes) this.evictOldest();
  }

  clear(): void {
    while (this.order.length > 0) this.order.shift().clear();
    this.bytes = 0;
  }

  private evictOldest(): void {
    this.bytes -= memoryBytesOf(this.order.shift().shift());
  }
}

/** Up to `maxBytes` of cached batches, from the one with `offset` on. The first batch may exceed `maxBytes`.
 *  Null if that batch is not cached. */
export const readCached = (batches: Tail, offset: number, maxBytes: number): Buffer[] | null => {
  if (batches.length === 0) return null;
  let low = 0;
  let high = batches.length;
  // Most reads are near the end.
  // From there, each step back is twice as long as the one before.
  for (let step = 1; high > 0; step *= 2) {
    const before = Math.max(0, high - step);
    if (lastOffsetOf(batches.at(before)) < offset) {
      low = before + 1;
      break;
    }
    high = before;
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lastOffsetOf(batches.at(middle)) < offset) low = middle + 1;
    else high = middle;
  }
  if (low === 0 && baseOffsetOf(batches.at(0)) > offset) return null;
  let end = low;
  for (let bytes = 0; end < batches.length; end += 1) {
    bytes += batches.at(end).length;
    if (bytes > maxBytes && end > low) break;
  }
  return batches.slice(low, end);
};

/** Removed items are cut off in portions of at least this many. */
const MIN_COMPACTED = 1024;

/** A first-in, first-out queue. `shift` takes constant time on average; that of an array moves all items. */
export class Queue<T> {
  private readonly items: T[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  /** The item `n` places behind the first. It must exist. */
  at = (n: number): T => this.items[this.head + n]!;

  slice = (from: number, end: number): T[] => this.items.slice(this.head + from, this.head + end);

  push(item: T): void {
    this.items.push(item);
  }

  /** Removes and returns the first item. It must exist. */
  shift(): T {
    const first = this.items[this.head]!;
    this.items[this.head] = undefined as T;
    this.head += 1;
    if (this.head >= MIN_COMPACTED && 2 * this.head >= this.items.length) {
      this.items.splice(0, this.head);
      this.head = 0;
    }
    return first;
  }

  clear(): void {
    this.items.length = 0;
    this.head = 0;
  }
}
