import { createEndpoint, ENDPOINT_LIMITS } from './endpoint.ts';

// An endpoint limits its attempts at once (`mayStart`), the deliveries that are kept in memory for it (`bufferSize`),
// and its part of the dispatcher's memory and slots (`capacityShare`).
const limits = { ...ENDPOINT_LIMITS, failuresToOpen: 3, openMs: 1_000, maxOpenMs: 4_000 };

/** Starts as many attempts as the endpoint allows. */
const fill = (endpoint: ReturnType<typeof createEndpoint>, now: number) => {
  const attempts: object[] = [];
  while (endpoint.mayStart(now)) {
    const attempt = {};
    endpoint.start(attempt, now);
    attempts.push(attempt);
  }
  return attempts;
};
const fail = (endpoint: ReturnType<typeof createEndpoint>, now: number) => {
  const attempt = {};
  endpoint.start(attempt, now);
  return endpoint.fail(attempt, now);
};

test('starts with few concurrent attempts and allows more with each success, up to a limit', () => {
  const endpoint = createEndpoint(limits);
  expect(fill(endpoint, 0)).toHaveLength(limits.concurrency.initial);
  for (let n = 0; n < 10_000; n += 1) endpoint.succeed({});
  expect(endpoint.inFlight() + fill(endpoint, 0).length).toBe(limits.concurrency.max);
});

test('allows no more attempts than the caller permits', () => {
  const endpoint = createEndpoint(limits);
  endpoint.start({}, 0);
  expect(endpoint.mayStart(0, 1)).toBe(false);
  expect(endpoint.mayStart(0, 2)).toBe(true);
});

test('buffers and starts no delivery while the circuit breaker is open, and one while it is half-open', () => {
  const endpoint = createEndpoint(limits);
  expect([fail(endpoint, 0), fail(endpoint, 0), fail(endpoint, 0)]).toEqual([false, false, true]);
  let now = 0;
  for (const openMs of [1_000, 2_000, 4_000, 4_000]) {
    expect(endpoint.mayStart(now + openMs - 1)).toBe(false);
    expect(endpoint.bufferSize(now + openMs - 1)).toBe(0);
    now += openMs;
    expect(endpoint.bufferSize(now)).toBe(1);
    const [probe, ...others] = fill(endpoint, now);
    expect(others).toEqual([]);
    expect(endpoint.fail(probe!, now)).toBe(true);
  }
});

test('opens the circuit breaker once for attempts that fail together', () => {
  const endpoint = createEndpoint(limits);
  const attempts = [1, 2, 3, 4, 5].map(() => ({}));
  for (const attempt of attempts) endpoint.start(attempt, 0);
  expect(attempts.map((attempt) => endpoint.fail(attempt, 0))).toEqual([false, false, true, false, false]);
  expect(endpoint.openUntil()).toBe(1_000);
});

test('is healthy again after one success', () => {
  const endpoint = createEndpoint(limits);
  for (let n = 0; n < 3; n += 1) fail(endpoint, 0);
  endpoint.succeed({});
  expect(endpoint.state(0)).toBe('healthy');
  expect(endpoint.capacityShare(0)).toBe(1);
});

test('uses half of the capacity and its initial buffer while an attempt is slow', () => {
  const endpoint = createEndpoint(limits);
  endpoint.start({}, 0);
  expect(endpoint.capacityShare(limits.slowMs)).toBe(1);
  expect(endpoint.capacityShare(limits.slowMs + 1)).toBe(0.5);
  expect(endpoint.bufferSize(limits.slowMs + 1)).toBe(limits.concurrency.initial);
});

test('reports its state', () => {
  const endpoint = createEndpoint(limits);
  expect(endpoint.state(0)).toBe('healthy');
  fail(endpoint, 0);
  expect(endpoint.state(0)).toBe('failing');
  for (let n = 0; n < 2; n += 1) fail(endpoint, 0);
  expect(endpoint.state(0)).toBe('open');
  expect(endpoint.state(endpoint.openUntil())).toBe('half-open');
  endpoint.succeed({});
  endpoint.start({}, 0);
  expect([endpoint.state(limits.slowMs), endpoint.state(limits.slowMs + 1)]).toEqual(['healthy', 'slow']);
});

test.each([
  ['succeed', 'healthy'],
  ['fail', 'failing'],
  ['abort', 'healthy'],
] as const)('an attempt that ends by %s frees its place, and its endpoint is %s', (end, state) => {
  const endpoint = createEndpoint({ ...limits, concurrency: { initial: 1, max: 1 } });
  const attempt = {};
  endpoint.start(attempt, 0);
  expect([endpoint.inFlight(), endpoint.mayStart(0)]).toEqual([1, false]);
  endpoint[end](attempt, 0);
  expect([endpoint.inFlight(), endpoint.mayStart(0), endpoint.state(0)]).toEqual([0, true, state]);
});

test('allows one more attempt per round of successes, and half as many after a failure', () => {
  const endpoint = createEndpoint({ ...limits, failuresToOpen: 100, concurrency: { initial: 2, max: 64 } });
  const allowed = () => endpoint.bufferSize(0) / limits.bufferedPerAttempt;
  const counts = Array.from({ length: 7 }, () => (endpoint.succeed({}), allowed()));
  expect(counts).toEqual([2, 2, 3, 3, 3, 4, 4]);
  fail(endpoint, 0);
  expect(allowed()).toBe(2);
  for (let n = 0; n < 3; n += 1) fail(endpoint, 0);
  expect(allowed()).toBe(1);
});

test('gets half of the capacity after a failure', () => {
  const endpoint = createEndpoint(limits);
  fail(endpoint, 0);
  expect(endpoint.capacityShare(0)).toBe(0.5);
});

test('is stale once it was idle for longer than the longest opening, since its last attempt or the end of the opening', () => {
  const endpoint = createEndpoint(limits);
  const { maxOpenMs } = limits;
  const attempt = {};
  endpoint.start(attempt, 100);
  expect(endpoint.isStale(100 + maxOpenMs + 1)).toBe(false);
  endpoint.succeed(attempt);
  expect([100 + maxOpenMs, 100 + maxOpenMs + 1].map(endpoint.isStale)).toEqual([false, true]);
  for (let n = 0; n < limits.failuresToOpen; n += 1) fail(endpoint, 200);
  const openUntil = endpoint.openUntil();
  expect([openUntil + maxOpenMs, openUntil + maxOpenMs + 1].map(endpoint.isStale)).toEqual([false, true]);
});

test('tests a half-open endpoint with one attempt, however many it took before', () => {
  const endpoint = createEndpoint({ ...limits, failuresToOpen: 1 });
  for (let n = 0; n < 100; n += 1) endpoint.succeed({});
  fail(endpoint, 0);
  expect(fill(endpoint, endpoint.openUntil())).toHaveLength(1);
});
