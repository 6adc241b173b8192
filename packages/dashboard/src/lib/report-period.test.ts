import { readPeriod } from './report-period.ts';

// 23:30 of January 31 in Mexico City, and February 1 in UTC.
const NOW_MS = Date.parse('2026-02-01T05:30:00Z');
const MEXICO = 'America/Mexico_City';
const read = (search: Record<string, string>, nowMs = NOW_MS) => readPeriod(search, MEXICO, nowMs);

test.each([
  ['today', '2026-01-31', '2026-01-31'],
  ['last_7_days', '2026-01-25', '2026-01-31'],
  ['last_30_days', '2026-01-02', '2026-01-31'],
  ['this_month', '2026-01-01', '2026-01-31'],
  ['last_month', '2025-12-01', '2025-12-31'],
])('%s is of the calendar of the browser', (period, from, to) => {
  expect(read({ period })).toEqual({ name: period, timezone: MEXICO, from, to, fault: undefined });
});

test('another time zone has another day', () => {
  expect(read({ period: 'today', timezone: 'UTC' })).toMatchObject({ from: '2026-02-01', to: '2026-02-01' });
  expect(read({ period: 'last_month', timezone: 'UTC' })).toMatchObject({ from: '2026-01-01', to: '2026-01-31' });
});

test('the last month of March is February, also in a leap year', () => {
  const at = Date.parse('2028-03-31T12:00:00Z');
  expect(read({ period: 'last_month' }, at)).toMatchObject({ from: '2028-02-01', to: '2028-02-29' });
});

test('without a period, a report has the last 30 days', () => {
  expect(read({})).toMatchObject({ name: 'last_30_days', from: '2026-01-02' });
});

test.each([
  [{ period: 'own', from: '2026-01-01', to: '2026-01-31' }, undefined],
  [{ period: 'own', from: '2025-12-31', to: '2026-01-31' }, 'too_long'],
  [{ period: 'own', from: '2026-01-02', to: '2026-01-01' }, 'backwards'],
  [{ period: 'own', from: '2026-01-02' }, 'no_days'],
  [{ period: 'own', from: '2026-13-01', to: '2026-01-01' }, 'no_days'],
  [{ period: 'always' }, 'unknown_period'],
  [{ timezone: 'Nowhere/Else' }, 'unknown_timezone'],
])('%j has the fault %p', (search, fault) => {
  expect(read(search as Record<string, string>).fault).toBe(fault);
});
