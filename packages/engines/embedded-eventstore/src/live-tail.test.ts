import type { RecordedEvent } from './events.ts';
import { LiveTail } from './live-tail.ts';
import { recordedEvent } from './testing/jest-recorded-event.ts';

const event = (position: number, bytes = 0) =>
  recordedEvent({ position: BigInt(position), revision: BigInt(position), data: new Uint8Array(bytes) });
const events = (from: number, count: number, bytes = 0) =>
  Array.from({ length: count }, (_, i) => event(from + i, bytes));
const positions = (found: readonly RecordedEvent[] | null) => found?.map(({ position }) => Number(position));
const never = new AbortController().signal;

test('throws until the end of the log is known', () => {
  expect(() => new LiveTail().head).toThrow('not ready');
});

test('returns the events after a position, up to a limit', () => {
  const tail = new LiveTail();
  tail.reset(10n);
  tail.push(events(11, 5));
  expect(tail.head).toBe(15n);
  expect(positions(tail.after(10n, 100))).toEqual([11, 12, 13, 14, 15]);
  expect(positions(tail.after(12n, 2))).toEqual([13, 14]);
  expect(tail.after(15n, 100)).toEqual([]);
  expect(tail.after(99n, 100)).toEqual([]);
});

test('returns null for a position before the tail', () => {
  const tail = new LiveTail();
  tail.reset(10n);
  expect(tail.after(9n, 1)).toBeNull();
  tail.push(events(11, 1));
  expect(tail.after(9n, 1)).toBeNull();
  tail.reset(20n);
  expect(tail.after(11n, 1)).toBeNull();
});

test('returns no removed events, and no gap beyond them', () => {
  const tail = new LiveTail();
  tail.reset(10n);
  tail.push(events(11, 6));
  tail.remove(({ position }) => [11n, 13n, 14n].includes(position));
  expect(positions(tail.after(10n, 100))).toEqual([12, 15, 16]);
  expect(positions(tail.after(13n, 1))).toEqual([15]);
  expect(tail.after(9n, 1)).toBeNull();
  tail.push(events(17, 1));
  expect(positions(tail.after(12n, 100))).toEqual([15, 16, 17]);
});

test.each([
  ['many events', 1, 50_000],
  ['large events', 100_000, 1_000],
])('keeps only the most recent of %s', (_, bytes, count) => {
  const tail = new LiveTail();
  tail.reset(0n);
  for (let i = 0; i < count; i++) tail.push(events(i + 1, 1, bytes));
  expect(tail.after(0n, 1)).toBeNull();
  expect(positions(tail.after(BigInt(count - 1), 10))).toEqual([count]);
  let oldest = count;
  while (tail.after(BigInt(oldest - 1), 1)) oldest--;
  expect((count - oldest) * (bytes + 400)).toBeLessThanOrEqual(34 * 1024 * 1024);
});

test('a wait ends with a commit, a reset or an abort', async () => {
  const tail = new LiveTail();
  tail.reset(5n);
  await tail.waitForChange(4n, never);
  const order: string[] = [];
  const abort = new AbortController();
  const waits = [
    tail.waitForChange(5n, never).then(() => order.push('commit')),
    tail.waitForChange(5n, abort.signal).then(() => order.push('aborted')),
  ];
  abort.abort();
  await waits[1];
  tail.push(events(6, 1));
  await waits[0];
  expect(order).toEqual(['aborted', 'commit']);
  const reset = tail.waitForChange(6n, never);
  tail.reset(6n);
  await reset;
});
