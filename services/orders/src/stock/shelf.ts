// The rules of the stock: leased items of one kind, taken in the order in which they came. A shelf is refilled when it is
// half empty. It doubles when it ran empty meanwhile, and is small again after items were left over. Times are
// milliseconds of a monotonic clock.

export interface Leased<T> {
  readonly item: T;
  /** From then on, the item may go to another order. */
  readonly endsAtMs: number;
}

export interface Shelf<T> {
  /** Oldest first. */
  readonly items: readonly Leased<T>[];
  /** How many items a refill leaves. 0 before the first demand: nothing is leased for currencies that nobody uses. */
  readonly size: number;
  /** Whether an item was needed and there was none, since the last refill began. */
  readonly wasEmpty: boolean;
  /** No refill before this. */
  readonly refillFromMs: number;
}

export const SMALLEST = 4;
export const LARGEST = 128;
/** An order with less time might not be recorded before the lease ends. */
export const LEAST_LEFT_MS = 30_000;

export const emptyShelf: Shelf<never> = { items: [], size: 0, wasEmpty: false, refillFromMs: -Infinity };

/** Takes the oldest item, or null if there is none with enough time left. */
export const takeOldest = <T>(shelf: Shelf<T>, nowMs: number): readonly [Leased<T> | null, Shelf<T>] => {
  const usable = shelf.items.filter(({ endsAtMs }) => endsAtMs - nowMs >= LEAST_LEFT_MS);
  const [oldest = null, ...items] = usable;
  if (usable.length < shelf.items.length) return [oldest, { ...shelf, items, size: SMALLEST, wasEmpty: false }];
  return [oldest, { ...shelf, items, wasEmpty: shelf.wasEmpty || !oldest }];
};

/** Puts an item back that no order has got. */
export const putBack = <T>(shelf: Shelf<T>, leased: Leased<T>): Shelf<T> => ({
  ...shelf,
  items: [leased, ...shelf.items],
});

/** How many items to lease now. 0 while the shelf is more than half full, and before the next try. */
export const beginRefill = <T>(shelf: Shelf<T>, nowMs: number): readonly [number, Shelf<T>] => {
  const { items, wasEmpty, refillFromMs } = shelf;
  if (nowMs < refillFromMs) return [0, shelf];
  const size = wasEmpty ? Math.min(Math.max(shelf.size * 2, SMALLEST), LARGEST) : shelf.size;
  if (items.length > size / 2) return [0, shelf];
  return [size - items.length, { ...shelf, size, wasEmpty: false }];
};

/** Adds what was leased. If that is nothing, the next try is at `retryAtMs`. */
export const endRefill = <T>(shelf: Shelf<T>, leased: readonly Leased<T>[], retryAtMs: number): Shelf<T> =>
  leased.length > 0
    ? { ...shelf, items: [...shelf.items, ...leased] }
    : { ...shelf, refillFromMs: Math.max(shelf.refillFromMs, retryAtMs) };
