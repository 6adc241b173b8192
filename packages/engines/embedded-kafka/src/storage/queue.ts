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
