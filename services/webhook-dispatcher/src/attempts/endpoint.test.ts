import { createEndpoint, ENDPOINT_LIMITS } from './endpoint.ts';

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
  endpoint.start(endpoint, now);
  return endpoint.fail(endpoint, now);
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

test('buffers and starts nothing while the circuit breaker is open, and one delivery while it is half-open', () => {
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

test('ignores aborted attempts', () => {
  const endpoint = createEndpoint(limits);
  const attempt = {};
  endpoint.start(attempt, 0);
  endpoint.abort(attempt);
  expect(endpoint.inFlight()).toBe(0);
  expect(endpoint.state(0)).toBe('healthy');
});
