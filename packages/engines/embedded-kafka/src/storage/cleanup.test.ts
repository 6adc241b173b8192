import pg from 'pg';
import { StorageUnavailable } from '../errors.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { type CleanupOptions, retentionClock, startCleanup } from './cleanup.ts';
import { emptyPartition } from './partition.ts';

const timers = (import.meta as unknown as { jest: typeof jest }).jest;

const DAY_MS = 86_400_000;

test('batches do not age by a clock that was set ahead, and do by one that runs on', () => {
  let [wall, monotonic] = [1_700_000_000_000, 5_000];
  const started = wall;
  const now = retentionClock(
    () => wall,
    () => monotonic,
  );
  [wall, monotonic] = [wall + DAY_MS, monotonic + DAY_MS];
  expect(now()).toBe(started + DAY_MS);
  wall += 40 * DAY_MS;
  expect(now()).toBe(started + DAY_MS);
  wall -= 41 * DAY_MS;
  expect(now()).toBe(started);
});

test('the time is in whole milliseconds, as those of batches, also while the wall clock is ahead', () => {
  let [wall, monotonic] = [1_700_000_000_000, 5_000.25];
  const started = wall;
  const now = retentionClock(
    () => wall,
    () => monotonic,
  );
  [wall, monotonic] = [wall + 10_000, monotonic + 9_999.5];
  expect(now()).toBe(started + 9_999);
});

describe('runs at an interval', () => {
  const INTERVAL_MS = 1_000;
  const started: (() => void)[] = [];
  const lines: string[] = [];
  /** How the retention of the one partition of the broker ends. */
  let apply: () => Promise<number>;
  const partition = emptyPartition({ id: 1, name: 'topic', config: {}, partitions: [] }, 0);
  const start = () =>
    startCleanup({
      databaseUrl: 'postgres://127.0.0.1:1/none',
      settings: { ...DEFAULT_SETTINGS, cleanupIntervalMs: INTERVAL_MS },
      catalogue: { allPartitions: () => [partition] },
      logReader: { startForRetentionTime: () => apply() },
      writer: { run: async () => ({ rows: [], rowCount: 0 }) },
      log: (line: string) => void lines.push(line),
    } as unknown as CleanupOptions);
  beforeEach(() => {
    timers.useFakeTimers();
    for (const list of [started, lines]) list.length = 0;
  });
  afterEach(() => timers.useRealTimers());

  test('do not pile up while one takes longer', async () => {
    apply = () => new Promise((done) => started.push(() => done(0)));
    const cleanup = start();
    await timers.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(started).toHaveLength(1);
    started[0]!();
    await timers.advanceTimersByTimeAsync(INTERVAL_MS - 1);
    expect(started).toHaveLength(1);
    await timers.advanceTimersByTimeAsync(1);
    expect(started).toHaveLength(2);
    started[1]!();
    await cleanup.stop();
  });

  test.each([
    ['a statement that PostgreSQL refuses is logged once', 'ERROR', ['cleanup failed: invalid input']],
    ['an outage is left to the writer to log', 'FATAL', []],
  ])('go on after a failure: %s', async (_, severity, expected) => {
    let runs = 0;
    apply = async () => {
      runs += 1;
      throw new StorageUnavailable(Object.assign(new pg.DatabaseError('invalid input', 1, 'error'), { severity }));
    };
    const cleanup = start();
    await timers.advanceTimersByTimeAsync(3 * INTERVAL_MS);
    expect(runs).toBe(3);
    expect(lines).toEqual(expected);
    await cleanup.stop();
  });
});
