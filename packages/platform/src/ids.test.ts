import { decodeTime } from 'ulid';
import { newUlid } from './ids.ts';

const NOON_MS = Date.parse('2026-01-31T12:00:00.000Z');
const at = (ms: number) => newUlid(new Date(NOON_MS + ms));

test('later ids sort after earlier ones, also while the clock is adjusted', () => {
  const ids = [at(0), at(0), at(1), at(-999), at(2)];
  expect(ids.toSorted()).toEqual(ids);
});

test('ids bear no times of the future after the clock was set back', () => {
  at(3_600_000);
  expect([at(0), at(5)].map((id) => decodeTime(id) - NOON_MS)).toEqual([0, 5]);
});
