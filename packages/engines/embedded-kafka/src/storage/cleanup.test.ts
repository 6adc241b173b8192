import { retentionClock } from './cleanup.ts';

const DAY_MS = 86_400_000;

test('batches do not age by a clock that was set ahead, and do by one that runs on', () => {
  let [wall, monotonic] = [1_700_000_000_000, 5_000];
  const started = wall;
  const now = retentionClock(
    () => wall,
    () => monotonic,
  );
  [wall, monotonic] = [wall + DAY_MS, monotonic + DAY_MS];
  expect(now()).toBe(started + DAY_MS);
  wall += 40 * DAY_MS;
  expect(now()).toBe(started + DAY_MS);
  wall -= 41 * DAY_MS;
  expect(now()).toBe(started);
});
