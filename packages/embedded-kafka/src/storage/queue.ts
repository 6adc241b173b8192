const LEAST_DROPPED = 1024;

/** First in, first out, at the same small price however long it is (an array moves all of its items when the first one goes). */
export class Queue<T> {
  private readonly items: T[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  /** The `n`th item from the front, which has to be there. */
  at = (n: number): T => this.items[this.head + n]!;

  slice = (from: number, end: number): T[] => this.items.slice(this.head + from, this.head + end);

  push(item: T): void {
    this.items.push(item);
  }

  /** Takes the first item, which has to be there. */
  shift(): T {
    const first = this.items[this.head]!;
    this.items[this.head] = undefined as T;
    this.head += 1;
    if (this.head >= LEAST_DROPPED && 2 * this.head >= this.items.length) {
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
