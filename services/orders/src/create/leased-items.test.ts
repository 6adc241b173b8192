import fc from 'fast-check';
import { createLeasedItems, LARGEST, LEAST_LEFT_MS, SMALLEST } from './leased-items.ts';

const LEASE_MS = 600_000;

/** These items, leased now. */
const given = (...items: number[]) => {
  let nowMs = 1_000_000;
  const leased = createLeasedItems<number>(() => nowMs);
  const add = (...added: number[]) => leased.add(added, { endsAtMs: nowMs + LEASE_MS, retryInMs: 1_000 });
  if (items.length > 0) add(...items);
  return {
    ...leased,
    add,
    pass: (ms: number) => void (nowMs += ms),
    taken: (count: number) => Array.from({ length: count }, () => leased.take()?.item ?? null),
  };
};

test('nothing is leased before the first demand', () => expect(given().missing()).toBe(0));

test('the first demand finds nothing, and leases a few', () => {
  const { taken, missing } = given();
  expect(taken(3)).toEqual([null, null, null]);
  expect(missing()).toBe(SMALLEST);
});

test('takes the oldest first', () => expect(given(7, 8, 9).taken(2)).toEqual([7, 8]));

test('an item that was put back is the next one', () => {
  const { take } = given(7, 8);
  take()!.putBack();
  expect(take()!.item).toBe(7);
});

test('as many items are leased as the last minute took, once at most half of them are left', () => {
  const { taken, missing, add, pass } = given();
  taken(8);
  expect(missing()).toBe(8);
  add(1, 2, 3, 4, 5, 6, 7, 8);
  pass(59_999);
  taken(1);
  expect(missing()).toBe(0);
  pass(1);
  // The first eight were a minute ago.
  expect(taken(5)).toEqual([2, 3, 4, 5, 6]);
  expect(missing()).toBe(4);
});

test('half of the items that are wanted are too few, and one more is enough', () => {
  const left = (...items: number[]) => {
    const { taken, missing } = given(...items);
    taken(1);
    return missing();
  };
  expect([left(6, 7, 8), left(6, 7, 8, 9)]).toEqual([SMALLEST / 2, 0]);
});

test('never more than LARGEST items are leased', () => {
  const { taken, missing } = given();
  taken(10 * LARGEST);
  expect(missing()).toBe(LARGEST);
});

test('a minute after the last demand, nothing is leased', () => {
  const { taken, missing, pass } = given();
  taken(1);
  pass(60_000);
  expect(missing()).toBe(0);
});

test('an item is taken only with enough of its lease left', () => {
  const { taken, pass } = given(7, 8);
  pass(LEASE_MS - LEAST_LEFT_MS);
  expect(taken(1)).toEqual([7]);
  pass(1);
  expect(taken(1)).toEqual([null]);
});

test('after a refill without items, the next one waits', () => {
  const { taken, missing, add, pass } = given();
  taken(1);
  add();
  pass(999);
  expect(missing()).toBe(0);
  pass(1);
  expect(missing()).toBe(SMALLEST);
});

/** Time passes, then orders take items, of which every third is put back, and a refill begins or ends. */
const step = fc.record({
  passMs: fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.constant(LEASE_MS)),
  takes: fc.integer({ min: 0, max: 40 }),
  refill: fc.constantFrom('begins', 'ends', 'fails'),
});

test('no item is taken twice or with too little time, and no more are leased than a minute took', () =>
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let [nowMs, next, ordered] = [0, 0, 0];
      const leased = createLeasedItems<number>(() => nowMs);
      const kept = new Set<number>();
      for (const { passMs, takes, refill } of steps) {
        nowMs += passMs;
        for (let n = 1; n <= takes; n += 1) {
          const taken = leased.take();
          if (!taken) continue;
          expect(kept).not.toContain(taken.item);
          expect(taken.endsAtMs - nowMs).toBeGreaterThanOrEqual(LEAST_LEFT_MS);
          if (n % 3 === 0) taken.putBack();
          else kept.add(taken.item);
        }
        if (refill === 'begins' && ordered === 0) ordered = leased.missing();
        else if (ordered > 0) {
          const items = Array.from({ length: refill === 'fails' ? 0 : ordered }, () => next++);
          leased.add(items, { endsAtMs: nowMs + LEASE_MS, retryInMs: 1_000 });
          ordered = 0;
        }
        expect(ordered).toBeLessThanOrEqual(LARGEST);
      }
    }),
  ));
