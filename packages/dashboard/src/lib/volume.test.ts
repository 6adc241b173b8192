import type { Volume } from '@cpg/sdk';
import { percent, volumeByDay } from './volume.ts';

const on = (day: string, currency: string, applied_amount: string, count = 1) =>
  ({ day, currency, applied_amount, count, list: `/${day}/${currency}` }) as Volume['days'][number];

test('shows each day of the period, and the currency with the most payments first', () => {
  const days = [on('2026-02-28', 'BTC', '0.5'), on('2026-02-28', 'USDC', '5'), on('2026-03-02', 'USDC', '0.3', 2)];
  const volume = volumeByDay({ from: '2026-02-28', to: '2026-03-02', timezone: 'UTC', days, totals: [] });
  expect([...volume.keys()]).toEqual(['USDC', 'BTC']);
  expect(volume.get('USDC')).toEqual([
    { day: '2026-02-28', amount: '5', list: '/2026-02-28/USDC' },
    { day: '2026-03-01', amount: '0' },
    { day: '2026-03-02', amount: '0.3', list: '/2026-03-02/USDC' },
  ]);
});

test('leaves out a currency of which there are refunds alone', () => {
  const days = [on('2026-02-28', 'BTC', '0', 0)];
  expect(volumeByDay({ from: '2026-02-28', to: '2026-02-28', timezone: 'UTC', days, totals: [] }).size).toBe(0);
});

test('says 100 % for all alone', () => {
  expect(percent(999, 1000)).toBe(99);
  expect(percent(1000, 1000)).toBe(100);
  expect(percent(0, 0)).toBeUndefined();
});
