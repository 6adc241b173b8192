import { formatTime, relativeTime } from './times.ts';

const NOW = Date.parse('2026-01-31T12:00:00.000Z');

test.each([
  ['2026-01-31T11:59:50.000Z', 'now'],
  ['2026-01-31T11:57:00.000Z', '3 minutes ago'],
  ['2026-01-31T14:30:00.000Z', 'in 2 hours'],
  ['2026-01-30T11:00:00.000Z', 'yesterday'],
])('%s is %s', (time, words) => expect(relativeTime(time, NOW, 'en')).toBe(words));

test('a far time has no words', () => expect(relativeTime('2025-12-01T00:00:00.000Z', NOW, 'en')).toBeUndefined());

test('text that is no time stays as it is', () => {
  expect(relativeTime('soon', NOW, 'en')).toBeUndefined();
  expect(formatTime('soon', 'en')).toBe('soon');
});
