import fc from 'fast-check';
import { createTokenBuckets } from './rate-limits.ts';

test('allows the burst, then requests at the refill rate', () => {
  let now = 0;
  const buckets = createTokenBuckets({ perSecond: 2, burst: 3, now: () => now });
  const consume = () => buckets.consume('a');
  expect([consume(), consume(), consume()].map((result) => result?.remaining)).toEqual([2, 1, 0]);
  expect(consume()).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 });
  now = 499;
  expect(consume()?.allowed).toBe(false);
  now = 500;
  expect(consume()).toMatchObject({ allowed: true, remaining: 0 });
  expect([buckets.isEmpty('a'), buckets.isEmpty('b')]).toEqual([true, false]);
});

test('a refunded token can be consumed again; a full bucket takes no more', () => {
  const buckets = createTokenBuckets({ perSecond: 1, burst: 2, now: () => 0 });
  buckets.refund('a');
  expect([1, 2, 3].map(() => buckets.consume('a')?.allowed)).toEqual([true, true, false]);
  buckets.refund('a');
  expect([1, 2].map(() => buckets.consume('a')?.allowed)).toEqual([true, false]);
});

test('each id has its own bucket', () => {
  const buckets = createTokenBuckets({ perSecond: 1, burst: 1, now: () => 0 });
  expect(['a', 'a', 'b'].map((id) => buckets.consume(id)?.allowed)).toEqual([true, false, true]);
});

test.each([
  [0, 10],
  [10, 0],
])('%i per second with a burst of %i disables the limit', (perSecond, burst) => {
  const buckets = createTokenBuckets({ perSecond, burst, now: () => 0 });
  expect(buckets.consume('a')).toBeNull();
  expect(buckets.isEmpty('a')).toBe(false);
});

test('never allows more than burst plus refill, and allows a request after retryAfterSeconds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(2000), { maxLength: 200 }),
      (perSecond, burst, waits) => {
        let now = 0;
        let passed = 0;
        const buckets = createTokenBuckets({ perSecond, burst, now: () => now });
        for (const wait of waits) {
          now += wait;
          const result = buckets.consume('a')!;
          if (result.allowed) passed += 1;
          else {
            now += result.retryAfterSeconds * 1000;
            expect(buckets.consume('a')?.allowed).toBe(true);
            passed += 1;
          }
        }
        expect(passed).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 1e-6);
      },
    ),
  );
});
