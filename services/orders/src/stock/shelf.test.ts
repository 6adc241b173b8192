import fc from 'fast-check';
import {
  beginRefill,
  emptyShelf,
  endRefill,
  LARGEST,
  LEAST_LEFT_MS,
  type Leased,
  putBack,
  type Shelf,
  SMALLEST,
  takeOldest,
} from './shelf.ts';

const NOW = 1_000_000;
const LEASE_MS = 600_000;

const leased = (...items: number[]): Leased<number>[] => items.map((item) => ({ item, endsAtMs: NOW + LEASE_MS }));
/** A shelf of this size with these items, leased now. */
const given = (size: number, ...items: number[]) => {
  const shelf: Shelf<number> = { ...emptyShelf, size, items: leased(...items) };
  const taken = (count: number, atMs = NOW) => {
    let current = shelf;
    const found = Array.from({ length: count }, () => {
      const [oldest, rest] = takeOldest(current, atMs);
      current = rest;
      return oldest?.item ?? null;
    });
    return { found, then: current, toLease: (laterMs = 0) => beginRefill(current, atMs + laterMs)[0] };
  };
  return { shelf, taken };
};

test('nothing is leased before the first demand', () => expect(beginRefill(given(0).shelf, NOW)[0]).toBe(0));

test('the first demand finds nothing, and leases a few', () => {
  const { found, toLease } = given(0).taken(3);
  expect(found).toEqual([null, null, null]);
  expect(toLease()).toBe(SMALLEST);
});

test('takes the oldest first', () => expect(given(4, 7, 8, 9).taken(2).found).toEqual([7, 8]));

test('an item that was put back is the next one', () => {
  const { shelf } = given(4, 7, 8);
  const [oldest, rest] = takeOldest(shelf, NOW);
  expect(takeOldest(putBack(rest, oldest!), NOW)[0]!.item).toBe(7);
});

test('a shelf that is half empty is filled before it is empty', () => {
  const { shelf, taken } = given(8, 1, 2, 3, 4, 5);
  expect(beginRefill(shelf, NOW)[0]).toBe(0);
  expect(taken(1).toLease()).toBe(4);
});

test('a shelf that ran empty during a refill is twice as large after the next', () => {
  expect(given(8, 1, 2).taken(2).toLease()).toBe(8);
  expect(given(8, 1, 2).taken(3).toLease()).toBe(16);
  expect(given(LARGEST, 1).taken(9).toLease()).toBe(LARGEST);
});

test('an item is taken only with enough of its lease left', () => {
  const { taken } = given(4, 7);
  expect(taken(1, NOW + LEASE_MS - LEAST_LEFT_MS).found).toEqual([7]);
  expect(taken(1, NOW + LEASE_MS - LEAST_LEFT_MS + 1).found).toEqual([null]);
});

test('after items were left over, few are leased again', () =>
  expect(
    given(64, 7, 8, 9)
      .taken(1, NOW + LEASE_MS)
      .toLease(),
  ).toBe(SMALLEST));

test('after a refill without items, the next one waits', () => {
  const { then } = given(0).taken(1);
  const failed = endRefill(beginRefill(then, NOW)[1], [], NOW + 1_000);
  const [, missed] = takeOldest(failed, NOW + 999);
  expect(beginRefill(missed, NOW + 999)[0]).toBe(0);
  expect(beginRefill(missed, NOW + 1_000)[0]).toBeGreaterThan(0);
});

/** Time passes, then orders take items, of which every third is put back, and a refill begins or ends. */
const step = fc.record({
  passMs: fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.constant(LEASE_MS)),
  takes: fc.integer({ min: 0, max: 40 }),
  refill: fc.constantFrom('begins', 'ends', 'fails'),
});

test('no item is taken twice or with too little time, and the shelf never holds more than its size', () =>
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [shelf, nowMs, next, ordered]: [Shelf<number>, number, number, number] = [emptyShelf, NOW, 0, 0];
      const kept = new Set<number>();
      for (const { passMs, takes, refill } of steps) {
        nowMs += passMs;
        for (let n = 1; n <= takes; n += 1) {
          const [oldest, rest] = takeOldest(shelf, nowMs);
          shelf = rest;
          if (!oldest) continue;
          expect(kept).not.toContain(oldest.item);
          expect(oldest.endsAtMs - nowMs).toBeGreaterThanOrEqual(LEAST_LEFT_MS);
          if (n % 3 === 0) shelf = putBack(shelf, oldest);
          else kept.add(oldest.item);
        }
        if (refill === 'begins' && ordered === 0) [ordered, shelf] = beginRefill(shelf, nowMs);
        else if (ordered > 0) {
          const items = Array.from({ length: refill === 'fails' ? 0 : ordered }, () => ({
            item: next++,
            endsAtMs: nowMs + LEASE_MS,
          }));
          shelf = endRefill(shelf, items, nowMs + 1_000);
          ordered = 0;
        }
        expect(shelf.items.length).toBeLessThanOrEqual(LARGEST);
        expect(new Set(shelf.items.map(({ item }) => item)).size).toBe(shelf.items.length);
      }
    }),
  ));
