import fc from 'fast-check';
import { tokenBuckets } from './token-buckets.ts';

test('a full bucket lets its burst through, then as many as flow in', () => {
  let now = 0;
  const buckets = tokenBuckets({ perSecond: 2, burst: 3, now: () => now });
  const take = () => buckets.take('a');
  expect([take(), take(), take()].map((turn) => turn?.remaining)).toEqual([2, 1, 0]);
  expect(take()).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 2, retrySeconds: 1 });
  now = 499;
  expect(take()?.allowed).toBe(false);
  now = 500;
  expect(take()).toMatchObject({ allowed: true, remaining: 0 });
  expect(buckets.isEmpty('a')).toBe(true);
  expect(buckets.isEmpty('b')).toBe(false);
});

test('each has a bucket of its own', () => {
  const buckets = tokenBuckets({ perSecond: 1, burst: 1, now: () => 0 });
  expect(['a', 'a', 'b'].map((id) => buckets.take(id)?.allowed)).toEqual([true, false, true]);
});

test.each([
  [0, 10],
  [10, 0],
])('%i per second with a burst of %i is no limit', (perSecond, burst) => {
  const buckets = tokenBuckets({ perSecond, burst, now: () => 0 });
  expect(buckets.take('a')).toBeNull();
  expect(buckets.isEmpty('a')).toBe(false);
});

test('whatever the pace, no more passes than the burst and what flowed in, and waiting as told is enough', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(2000), { maxLength: 200 }),
      (perSecond, burst, waits) => {
        let now = 0;
        let passed = 0;
        const buckets = tokenBuckets({ perSecond, burst, now: () => now });
        for (const wait of waits) {
          now += wait;
          const turn = buckets.take('a')!;
          if (turn.allowed) passed += 1;
          else {
            now += turn.retrySeconds * 1000;
            expect(buckets.take('a')?.allowed).toBe(true);
            passed += 1;
          }
        }
        expect(passed).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 1e-6);
      },
    ),
  );
});
