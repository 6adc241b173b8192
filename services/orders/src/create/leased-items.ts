// Leased items of one kind, taken in the order in which they came. Times are milliseconds of a monotonic clock.

interface Leased<T> {
  readonly item: T;
  /** From then on, the item may go to another order. */
  readonly endsAtMs: number;
}

/** An item that was taken. */
export interface TakenItem<T> extends Leased<T> {
  /** Lets the next order have it. Only when no order has got it. */
  readonly putBack: () => void;
}

export interface LeasedItems<T> {
  /** Takes the oldest item; null if there is none with enough time left. */
  readonly take: () => TakenItem<T> | null;
  /** How many items to lease now, so that as many are there as the last minute took. 0 while at least half of them are
   *  there, without demand, and before the next try. */
  readonly missing: () => number;
  /** Adds what was leased. If that is nothing, the next try is after `retryInMs`. */
  readonly add: (items: readonly T[], terms: { readonly endsAtMs: number; readonly retryInMs: number }) => void;
}

export const SMALLEST = 4;
export const LARGEST = 128;
/** An order with less time might not be recorded before the lease ends. */
export const LEAST_LEFT_MS = 30_000;
/** Orders are created for so long while payments is unavailable. */
const DEMAND_MS = 60_000;

export const createLeasedItems = <T>(nowMs: () => number): LeasedItems<T> => {
  let items: Leased<T>[] = [];
  /** When an item was wanted: the newest, as many as count. */
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
