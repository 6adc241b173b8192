import { timers } from '../../testing/jest-browser-page.ts';
import { afterFirstPaint } from './after-paint.ts';

const observers = new Set<FakeObserver>();

class FakeObserver {
  readonly report: () => void;
  constructor(report: () => void) {
    this.report = report;
  }
  observe(): void {
    observers.add(this);
  }
  disconnect(): void {
    observers.delete(this);
  }
}

const original = globalThis.PerformanceObserver;
const useObserver = (PerformanceObserver: unknown) => Object.assign(globalThis, { PerformanceObserver });
const started = timers.fn();

beforeEach(() => {
  timers.useFakeTimers();
  started.mockClear();
  useObserver(FakeObserver);
});
afterEach(() => {
  timers.useRealTimers();
  useObserver(original);
});

test('waits for the first paint, and calls back once', () => {
  afterFirstPaint(started);
  timers.advanceTimersByTime(500);
  expect(started).not.toHaveBeenCalled();
  for (const observer of observers) observer.report();
  timers.advanceTimersByTime(60_000);
  expect([started.mock.calls.length, observers.size]).toEqual([1, 0]);
});

test('calls back after a second without a paint, once', () => {
  afterFirstPaint(started);
  timers.advanceTimersByTime(1_000);
  expect([started.mock.calls.length, observers.size]).toEqual([1, 0]);
});

test('calls back at once in a browser that cannot report paints', () => {
  useObserver(undefined);
  afterFirstPaint(started);
  expect(started).toHaveBeenCalledTimes(1);
});
