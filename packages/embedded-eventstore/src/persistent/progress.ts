/** How far a reader has come that finishes what it read in any order. Places grow; what is finished counts only as
 *  far as nothing before it is open, so that starting over after `done` misses nothing. */
export class Progress {
  /** Place -> how many places were seen before it. */
  readonly #open = new Map<bigint, number>();
  #seen: bigint;
  #seenCount = 0;

  constructor(start: bigint) {
    this.#seen = start;
  }

  /** The last place that was read. */
  get seen(): bigint {
    return this.#seen;
  }

  /** The last place up to which everything is finished. */
  get done(): bigint {
    const lowest = this.#lowest();
    return lowest ? lowest[0] - 1n : this.#seen;
  }

  /** How many places that is. */
  get doneCount(): number {
    const lowest = this.#lowest();
    return lowest ? lowest[1] : this.#seenCount;
  }

  /** `place` was read and has to be finished. */
  open(place: bigint): void {
    this.#open.set(place, this.#seenCount);
    this.pass(place);
  }

  /** There is nothing to do up to `place`. */
  pass(place: bigint): void {
    this.#seen = place;
    this.#seenCount++;
  }

  finish(place: bigint): void {
    this.#open.delete(place);
  }

  #lowest(): [bigint, number] | undefined {
    return this.#open.entries().next().value;
  }
}
