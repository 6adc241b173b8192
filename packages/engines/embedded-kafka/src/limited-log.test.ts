import { limitedLog } from './server.ts';

const timers = (import.meta as unknown as { jest: typeof jest }).jest;

beforeEach(() => void timers.useFakeTimers());
afterEach(() => void timers.useRealTimers());

test('passes ten lines a minute and counts the others', () => {
  const lines: string[] = [];
  const log = limitedLog((line) => lines.push(line), 10);
  for (let n = 0; n < 25; n += 1) log(`line ${n}`);
  expect(lines).toEqual(Array.from({ length: 10 }, (_, n) => `line ${n}`));
  timers.advanceTimersByTime(60_000);
  expect(lines.at(-1)).toBe('15 more lines like these were left out in the last minute');
  log('next');
  expect(lines.at(-1)).toBe('next');
  timers.advanceTimersByTime(600_000);
  expect(lines).toHaveLength(12);
});
