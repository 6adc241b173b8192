// Leased items of one kind, taken in the order in which they came. Times are milliseconds of a monotonic clock.

interface Leased<T> {
  readonly item: T;
  /** From then on, the item may go to another order. */
  readonly endsAtMs: number;
}

/** An item that was taken. */
export interface TakenItem<T> extends Leased<T> {
  /** Returns the item, so that the next order gets it. Call it only if no order has recorded the item. */
  readonly putBack: () => void;
}

export interface LeasedItems<T> {
  /** Takes the oldest item; null if there is none with enough time left. */
  readonly take: () => TakenItem<T> | null;
  /** How many items to lease now, so that there are as many as were taken in the last minute. 0 while more than half of
   *  them are there, if none was wanted in the last minute, and until the next try is due. */
  readonly missing: () => number;
  /** Adds what was leased. If that is nothing, the next try is after `retryInMs`. */
  readonly add: (items: readonly T[], terms: { readonly endsAtMs: number; readonly retryInMs: number }) => void;
}

/** The smallest and the largest number of items to hold. */
export const SMALLEST = 4;
export const LARGEST = 128;
/** An order with less time might not be recorded before the lease ends. */
export const LEAST_LEFT_MS = 30_000;
/** Demand is counted over this time: the items last about as long while payments is unavailable. */
const DEMAND_MS = 60_000;

export const createLeasedItems = <T>(nowMs: () => number): LeasedItems<T> => {
  let items: Leased<T>[] = [];
  /** The times of the last `LARGEST` calls of `take`. */
  let wantedAtMs: number[] = [];
  let refillFromMs = -Infinity;
  return {
    take: () => {
      const now = nowMs();
      wantedAtMs = [...wantedAtMs.slice(1 - LARGEST), now];
      items = items.filter(({ endsAtMs }) => endsAtMs - now >= LEAST_LEFT_MS);
      const oldest = items.shift();
      return oldest ? { ...oldest, putBack: () => void items.unshift(oldest) } : null;
    },
    missing: () => {
      const now = nowMs();
      const wanted = wantedAtMs.filter((atMs) => now - atMs < DEMAND_MS).length;
      const size = Math.max(wanted, SMALLEST);
      return wanted === 0 || items.length > size / 2 || now < refillFromMs ? 0 : size - items.length;
    },
    add: (added, { endsAtMs, retryInMs }) => {
      items.push(...added.map((item) => ({ item, endsAtMs })));
      if (added.length === 0) refillFromMs = nowMs() + retryInMs;
    },
  };
};
