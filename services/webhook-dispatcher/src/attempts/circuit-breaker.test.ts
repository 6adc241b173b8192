import { createCircuitBreaker } from './circuit-breaker.ts';

const limits = { failuresToOpen: 3, openMs: 1_000, maxOpenMs: 4_000 };

test('opens after consecutive failures, each time for twice as long, up to a limit', () => {
  const breaker = createCircuitBreaker(limits);
  expect([breaker.fail(0), breaker.fail(0), breaker.fail(0)]).toEqual([false, false, true]);
  let now = 0;
  for (const openMs of [1_000, 2_000, 4_000, 4_000]) {
    expect(breaker.state(now + openMs - 1)).toBe('open');
    now += openMs;
    expect(breaker.state(now)).toBe('half-open');
    expect(breaker.fail(now)).toBe(true);
  }
});

test('opens once for concurrent attempts that fail together', () => {
  const breaker = createCircuitBreaker(limits);
  expect([1, 2, 3, 4, 5].map(() => breaker.fail(0))).toEqual([false, false, true, false, false]);
  expect(breaker.openUntil()).toBe(1_000);
});

test('closes after one success', () => {
  const breaker = createCircuitBreaker(limits);
  for (let n = 0; n < 3; n += 1) breaker.fail(0);
  breaker.succeed();
  expect(breaker.state(0)).toBe('closed');
  expect(breaker.fail(0)).toBe(false);
});
