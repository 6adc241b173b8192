import fc from 'fast-check';
import { aDelivery } from '../testing/jest-deliveries.ts';
import type { Attempt } from './delivery.ts';
import {
  DEFAULT_SCHEDULE,
  delaySeconds,
  longestWaits,
  nextAttemptAt,
  resultOf,
  retryAfterSeconds,
} from './schedule.ts';

const now = new Date('2026-01-31T12:00:00.000Z');
const middle = () => 0.5;

test('the first attempt is immediate', () => expect(delaySeconds(DEFAULT_SCHEDULE, 1, middle)).toBe(0));

test('the default schedule has the waits of the contract', () => {
  const waits = Array.from({ length: 11 }, (_, n) => delaySeconds(DEFAULT_SCHEDULE, n + 1, middle));
  expect(waits).toEqual([0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, null]);
});

test('jitter changes each wait by at most 20 %', () =>
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 10 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, random) => {
      const planned = DEFAULT_SCHEDULE[attempt - 2]!;
      const wait = delaySeconds(DEFAULT_SCHEDULE, attempt, () => random)!;
      expect(wait).toBeGreaterThanOrEqual(planned * 0.8 - 1e-9);
      expect(wait).toBeLessThanOrEqual(planned * 1.2 + 1e-9);
    }),
  ));

test.each([0, -1, 1.5])('refuses %p as the number of an attempt', (attempt) =>
  expect(() => delaySeconds(DEFAULT_SCHEDULE, attempt, middle)).toThrow(RangeError),
);

test.each([
  ['120', 120],
  [' 0 ', 0],
  ['Sat, 31 Jan 2026 12:01:30 GMT', 90],
  ['Saturday, 31-Jan-26 12:01:30 GMT', 90],
  ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['', null],
])('Retry-After %p asks for %p seconds', (header, seconds) => expect(retryAfterSeconds(header, now)).toBe(seconds));

describe('after a first attempt, whose retry is planned in 5 s', () => {
  const secondsUntilNext = (retryAfter?: string) =>
    (nextAttemptAt(DEFAULT_SCHEDULE, 1, { now, random: middle, retryAfter })!.getTime() - now.getTime()) / 1_000;

  test.each([
    [undefined, 5],
    ['8', 8],
    ['3600', 10],
    ['1', 5],
    ['nonsense', 5],
    ['Sat, 31 Jan 2026 12:00:07 GMT', 7],
  ])('Retry-After %p leads to a wait of %p s', (header, seconds) => expect(secondsUntilNext(header)).toBe(seconds));
});

test('there is no attempt after the schedule is spent, whatever Retry-After asks for', () =>
  expect(nextAttemptAt(DEFAULT_SCHEDULE, 10, { now, random: middle, retryAfter: '5' })).toBeNull());

test.each<[string, Partial<Attempt>, number, string, number | null]>([
  ['that delivers', { outcome: 'delivered', statusCode: 200, retryAfter: '7' }, 0, 'delivered', null],
  ['that is refused', { statusCode: 500 }, 0, 'pending', 5],
  ['that asks for a later one', { statusCode: 503, retryAfter: '7' }, 0, 'pending', 7],
  ['after another one', { statusCode: 500 }, 1, 'pending', 300],
  ['that is refused for ever', { statusCode: 410 }, 0, 'failed', null],
  ['that is the last of the schedule', { statusCode: 500 }, 2, 'failed', null],
])('an attempt %s leaves the delivery with its status and the time of the next one', (_, more, made, status, wait) => {
  const attempt: Attempt = { outcome: 'refused', startedAt: now, durationMs: 1, ...more };
  const delivery = aDelivery({ attempts: made });
  const nextAt = wait === null ? null : new Date(now.getTime() + wait * 1_000);
  expect(resultOf(delivery, attempt, { schedule: [5, 300], now, random: middle })).toEqual({
    delivery,
    attempt,
    status,
    nextAt,
  });
});

test('a Retry-After header makes each wait twice as long at most', () =>
  expect(longestWaits([5, 300])).toEqual([10, 600]));
