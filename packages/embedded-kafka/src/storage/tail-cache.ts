import { baseOffsetOf, lastOffsetOf } from '../records/batch.ts';
import { Queue } from './queue.ts';

/** The newest batches of one partition that are still in memory, in order and without gaps. */
export type Tail = Queue<Buffer>;

/** What keeping a buffer costs beside its bytes, about: many small batches would take a multiple of their own size. */
const OVERHEAD_BYTES = 512;

export const memoryBytesOf = (batch: Buffer): number => batch.length + OVERHEAD_BYTES;

/** Keeps the newest batches of all partitions within `maxBytes`, so that consumers at the end of a log are served without
 *  asking the database. The oldest batch goes first, whichever partition it is of. */
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
    while (this.bytes > this.maxBytes) this.dropOldest();
  }

  clear(): void {
    while (this.order.length > 0) this.order.shift().clear();
    this.bytes = 0;
  }

  private dropOldest(): void {
    this.bytes -= memoryBytesOf(this.order.shift().shift());
  }
}

/** At most `maxBytes` of cached batches from the one that holds `offset` on, the first one however large it is; null when that one
 *  is no longer (or was never) in memory. */
export const readCached = (batches: Tail, offset: number, maxBytes: number): Buffer[] | null => {
  if (batches.length === 0 || baseOffsetOf(batches.at(0)) > offset) return null;
  let low = 0;
  for (let high = batches.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (lastOffsetOf(batches.at(middle)) < offset) low = middle + 1;
    else high = middle;
  }
  let end = low;
  for (let bytes = 0; end < batches.length; end += 1) {
    bytes += batches.at(end).length;
    if (bytes > maxBytes && end > low) break;
  }
  return batches.slice(low, end);
};
