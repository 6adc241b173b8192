import { baseOffsetOf, lastOffsetOf } from '../records/batch.ts';

/** The newest batches of one partition that are still in memory, in order and without gaps. */
export interface Tail {
  readonly batches: Buffer[];
}

/** Keeps the newest batches of all partitions within `maxBytes`, so that consumers at the end of a log are served without
 *  asking the database. The oldest batch goes first, whichever partition it is of. */
export class TailCache {
  private readonly maxBytes: number;
  private readonly order: Tail[] = [];
  private head = 0;
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  add(tail: Tail, batch: Buffer): void {
    tail.batches.push(batch);
    this.order.push(tail);
    this.bytes += batch.length;
    while (this.bytes > this.maxBytes) this.dropOldest();
  }

  clear(): void {
    for (const tail of this.order) tail.batches.length = 0;
    this.order.length = 0;
    this.head = 0;
    this.bytes = 0;
  }

  private dropOldest(): void {
    const tail = this.order[this.head]!;
    this.bytes -= tail.batches.shift()!.length;
    this.head += 1;
    if (this.head < 1024 || 2 * this.head < this.order.length) return;
    this.order.splice(0, this.head);
    this.head = 0;
  }
}

/** At most `maxBytes` of cached batches from the one that holds `offset` on, the first one however large it is; null when that one
 *  is no longer (or was never) in memory. */
export const cachedFrom = ({ batches }: Tail, offset: number, maxBytes: number): Buffer[] | null => {
  if (batches.length === 0 || baseOffsetOf(batches[0]!) > offset) return null;
  let low = 0;
  for (let high = batches.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (lastOffsetOf(batches[middle]!) < offset) low = middle + 1;
    else high = middle;
  }
  let end = low;
  for (let bytes = 0; end < batches.length; end += 1) {
    bytes += batches[end]!.length;
    if (bytes > maxBytes && end > low) break;
  }
  return batches.slice(low, end);
};
