import type { WebhookHealth } from '@cpg/sdk';
import { mostOf, partsOf, totalOf } from './webhook-health.ts';

const on = (day: string, delivered: number, failed: number, pending: number): WebhookHealth['days'][number] => ({
  day,
  delivered: { count: delivered, list: `/${day}/delivered` },
  failed: { count: failed, list: `/${day}/failed` },
  pending: { count: pending, list: `/${day}/pending` },
});

test('stacks the deliveries of a day, without a status that has none', () => {
  expect(partsOf(on('2026-01-31', 5, 2, 0))).toEqual([
    { status: 'delivered', count: 5, list: '/2026-01-31/delivered', below: 0 },
    { status: 'failed', count: 2, list: '/2026-01-31/failed', below: 5 },
  ]);
  expect(partsOf(on('2026-01-31', 1, 2, 4)).map(({ status, below }) => [status, below])).toEqual([
    ['delivered', 0],
    ['pending', 1],
    ['failed', 5],
  ]);
  expect(partsOf(on('2026-01-31', 0, 0, 0))).toEqual([]);
});

test('sums the days, and finds the day with the most', () => {
  const days = [on('2026-01-30', 5, 2, 0), on('2026-01-31', 1, 3, 4)];
  expect([totalOf(days, 'delivered'), totalOf(days, 'failed'), totalOf(days, 'pending')]).toEqual([6, 5, 4]);
  expect(mostOf(days)).toBe(8);
  expect(mostOf([])).toBe(0);
});
