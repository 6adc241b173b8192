import { timeLeft } from './clock.ts';

test.each([
  [0, 'en', '0:00'],
  [1, 'en', '0:01'],
  [9_000, 'en', '0:09'],
  [599_001, 'en', '10:00'],
  [3_600_000, 'en', '1:00:00'],
  [86_400_000, 'en', '1 day 0:00:00'],
  [2 * 86_400_000 + 5_400_000, 'es', '2 días 1:30:00'],
])('%i ms in %s are %s', (ms, language, text) => expect(timeLeft(ms, language)).toBe(text));
