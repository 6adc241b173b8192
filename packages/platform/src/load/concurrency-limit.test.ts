import {
  type ConcurrencyLimitOptions,
  createConcurrencyLimit,
  type EndRequest,
  type RequestEnd,
} from './concurrency-limit.ts';

const TARGET_MS = 400;

/** A limit on a clock that stands still until `answer` moves it. */
const startLimit = (options: Partial<ConcurrencyLimitOptions> = {}) => {
  let nowMs = 0;
  const limit = createConcurrencyLimit({ targetMs: TARGET_MS, initial: 100, min: 10, ...options, nowMs: () => nowMs });
  const admit = (count: number, owner = 'shop') =>
    Array.from({ length: count }, () => limit.admit(owner)).filter((end): end is EndRequest => end !== null);
  return {
    ...limit,
    admitted: admit,
    /** 20 s of more load than a service can take that answers one request after another. Returns the limit then. */
    saturate: (perSecond: number): number => {
      const queue: EndRequest[] = [];
      for (const startedMs = nowMs; nowMs < startedMs + 20_000; nowMs += 1_000 / perSecond) {
        queue.shift()?.('done');
        for (let end = limit.admit('shop'); end; end = limit.admit('shop')) queue.push(end);
      }
      for (const end of queue) end('failed');
      return limit.limit();
    },
    /** One window: `count` requests at once that are answered after `afterMs`. Returns the number of admitted ones. */
    window: (count: number, afterMs: number, as: RequestEnd = 'done'): number => {
      const ends = admit(count);
      nowMs += afterMs;
      for (const end of ends) end(as);
      return ends.length;
    },
  };
};

test('refuses what exceeds the limit, and admits again as soon as a request ends', () => {
  const { admit, admitted } = startLimit();
  const running = admitted(101);
  expect(running).toHaveLength(100);
  running[0]!('done');
  expect(admit('shop')).not.toBeNull();
  expect(admit('shop')).toBeNull();
});

test('a request ends once', () => {
  const { admitted, inProgress } = startLimit();
  const [first] = admitted(2);
  first!('done');
  first!('failed');
  expect(inProgress()).toBe(1);
});

test('settles at the number of requests that are answered within the target', () => {
  const settled = startLimit().saturate(200);
  expect(settled).toBeGreaterThanOrEqual(70);
  expect(settled).toBeLessThanOrEqual(90);
});

test('follows a service that becomes slower, and one that becomes faster', () => {
  const { saturate } = startLimit();
  expect(saturate(50)).toBeLessThanOrEqual(23);
  expect(saturate(1_000)).toBeGreaterThanOrEqual(350);
});

test('one slow window does not close the door', () => {
  const { limit, window } = startLimit();
  window(100, 20_000);
  expect(limit()).toBe(70);
});

test('never goes below its minimum or above its maximum', () => {
  const { limit, window } = startLimit({ max: 150 });
  for (let n = 0; n < 20; n += 1) window(100, 5_000);
  expect(limit()).toBe(10);
  for (let n = 0; n < 100; n += 1) window(1_000, 250);
  expect(limit()).toBe(150);
});

test('does not grow from quick answers without load', () => {
  const { limit, window } = startLimit();
  for (let n = 0; n < 50; n += 1) window(20, 300);
  expect(limit()).toBe(100);
});

test('returns to its initial value after a slow time, also without load', () => {
  const { limit, window } = startLimit();
  for (let n = 0; n < 20; n += 1) window(100, 5_000);
  expect(limit()).toBe(10);
  for (let n = 0; n < 300; n += 1) window(3, 100);
  expect(limit()).toBeLessThan(30);
  for (let n = 0; n < 2_500; n += 1) window(3, 100);
  expect(limit()).toBe(100);
});

test('a few quick answers do not end a window', () => {
  const { limit, window } = startLimit();
  window(100, 20);
  expect(limit()).toBe(100);
});

test('requests without an answer lower the limit', () => {
  const { limit, window } = startLimit();
  for (let n = 0; n < 20; n += 1) window(100, 5_000, 'late');
  expect(limit()).toBe(10);
});

test('latencies of invalid requests do not count', () => {
  const { limit, window } = startLimit();
  for (let n = 0; n < 20; n += 1) window(100, 5_000, 'failed');
  expect(limit()).toBe(100);
});

test('an owner with many requests leaves the others their share', () => {
  const { admitted } = startLimit();
  expect(admitted(1_000, 'busy')).toHaveLength(100);
  expect(admitted(1_000, 'second')).toHaveLength(50);
  expect(admitted(1_000, 'third')).toHaveLength(33);
});

test('an owner above its share is refused until the others are below the limit', () => {
  const { admitted, admit } = startLimit();
  const busy = admitted(100, 'busy');
  admitted(50, 'second');
  for (const end of busy.slice(0, 50)) end('done');
  expect(admit('busy')).toBeNull();
  busy[50]!('done');
  expect(admit('busy')).not.toBeNull();
});

test('any number of owners gets at most twice the limit', () => {
  const { admit, inProgress } = startLimit();
  for (let n = 0; n < 1_000; n += 1) admit(`shop ${n}`);
  expect(inProgress()).toBe(100);
  const { admitted, admit: admitMore, inProgress: all } = startLimit();
  admitted(100, 'busy');
  for (let n = 0; n < 1_000; n += 1) admitMore(`shop ${n % 99}`);
  expect(all()).toBeLessThanOrEqual(200);
});
