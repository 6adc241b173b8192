import { circuitBreaker } from './market.ts';

test('the pause doubles with each failure, and ends with the first success', () => {
  const at = (seconds: number) => seconds * 1_000;
  const breaker = circuitBreaker({ failuresToOpen: 2, pauseMs: 1_000, maxPauseMs: 3_000 });
  breaker.failed(at(0));
  expect(breaker.allows(at(0))).toBe(true);
  breaker.failed(at(0));
  expect([breaker.allows(at(0.9)), breaker.allows(at(1))]).toEqual([false, true]);
  breaker.failed(at(1));
  expect([breaker.allows(at(2.9)), breaker.allows(at(3))]).toEqual([false, true]);
  breaker.failed(at(3));
  expect([breaker.allows(at(5.9)), breaker.allows(at(6))]).toEqual([false, true]);
  breaker.succeeded();
  expect(breaker.allows(at(0))).toBe(true);
});
