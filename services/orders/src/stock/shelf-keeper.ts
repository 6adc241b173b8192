import { beginRefill, emptyShelf, endRefill, putBack, type Shelf, takeOldest } from './shelf.ts';

/** An item off its shelf. */
export interface TakenItem<T> {
  readonly item: T;
  readonly endsAtMs: number;
  readonly putBack: () => void;
}

export interface ShelfKeeper<T> {
  readonly take: () => TakenItem<T> | null;
  /** How many items to lease now. */
  readonly beginRefill: () => number;
  readonly endRefill: (items: readonly T[], terms: { readonly endsAtMs: number; readonly retryInMs: number }) => void;
}

/** A shelf that changes. `nowMs` is a monotonic clock. */
export const keepShelf = <T>(nowMs: () => number): ShelfKeeper<T> => {
  let shelf: Shelf<T> = emptyShelf;
  return {
    take: () => {
      const [oldest, rest] = takeOldest(shelf, nowMs());
      shelf = rest;
      return oldest && { ...oldest, putBack: () => void (shelf = putBack(shelf, oldest)) };
    },
    beginRefill: () => {
      const [count, begun] = beginRefill(shelf, nowMs());
      shelf = begun;
      return count;
    },
    endRefill: (items, { endsAtMs, retryInMs }) => {
      const leased = items.map((item) => ({ item, endsAtMs }));
      shelf = endRefill(shelf, leased, nowMs() + retryInMs);
    },
  };
};
