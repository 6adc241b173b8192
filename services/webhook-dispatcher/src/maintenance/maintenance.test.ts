import { stepsBack } from './maintenance.ts';

test('a step back of the clock is noticed once, and neither an adjustment nor a step ahead', () => {
  let [wallMs, ms] = [Date.parse('2026-01-31T12:00:00.000Z'), 0];
  const isSetBack = stepsBack(
    () => new Date(wallMs),
    () => ms,
  );
  const after = (passedMs: number, setMs: number) => {
    ms += passedMs;
    wallMs += passedMs + setMs;
    return isSetBack();
  };
  expect(isSetBack()).toBe(true);
  expect([after(60_000, 0), after(60_000, -1_000), after(60_000, 3_600_000)]).toEqual([false, false, false]);
  expect([after(60_000, -3_600_000), after(60_000, 0)]).toEqual([true, false]);
});
