import { createEndpoint, ENDPOINT_LIMITS } from './endpoint.ts';

const limits = { ...ENDPOINT_LIMITS, failuresToHold: 3, holdMs: 1_000, maxHoldMs: 4_000 };

/** Starts what it may, and returns it. */
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

test('an endpoint begins with few attempts at once and earns more by answering, up to a bound', () => {
  const endpoint = createEndpoint(limits);
  expect(fill(endpoint, 0)).toHaveLength(limits.slots);
  for (let n = 0; n < 10_000; n += 1) endpoint.succeed({});
  expect(endpoint.inFlight() + fill(endpoint, 0).length).toBe(limits.maxSlots);
});

test('no more may start than the others leave', () => {
  const endpoint = createEndpoint(limits);
  endpoint.start({}, 0);
  expect(endpoint.mayStart(0, 1)).toBe(false);
  expect(endpoint.mayStart(0, 2)).toBe(true);
});

test('one that keeps failing is left alone, then tried once, each time after twice as long, up to a bound', () => {
  const endpoint = createEndpoint(limits);
  expect([fail(endpoint, 0), fail(endpoint, 0), fail(endpoint, 0)]).toEqual([false, false, true]);
  let now = 0;
  for (const held of [1_000, 2_000, 4_000, 4_000]) {
    expect(endpoint.mayStart(now + held - 1)).toBe(false);
    expect(endpoint.share(now + held - 1)).toBe(0);
    now += held;
    expect(endpoint.share(now)).toBe(1);
    const [probe, ...others] = fill(endpoint, now);
    expect(others).toEqual([]);
    expect(endpoint.fail(probe!, now)).toBe(true);
  }
});

test('attempts that were under way together and fail together hold it once', () => {
  const endpoint = createEndpoint(limits);
  const attempts = [1, 2, 3, 4, 5].map(() => ({}));
  for (const attempt of attempts) endpoint.start(attempt, 0);
  expect(attempts.map((attempt) => endpoint.fail(attempt, 0))).toEqual([false, false, true, false, false]);
  expect(endpoint.heldUntil()).toBe(1_000);
});

test('one success makes it sound again', () => {
  const endpoint = createEndpoint(limits);
  for (let n = 0; n < 3; n += 1) fail(endpoint, 0);
  endpoint.succeed({});
  expect(endpoint.isHeld(0)).toBe(false);
  expect(endpoint.isSound(0)).toBe(true);
});

test('one that does not answer promptly is not sound, and gets no more than its first share', () => {
  const endpoint = createEndpoint(limits);
  endpoint.start({}, 0);
  expect(endpoint.isSound(limits.slowMs)).toBe(true);
  expect(endpoint.isSound(limits.slowMs + 1)).toBe(false);
  expect(endpoint.share(limits.slowMs + 1)).toBe(limits.slots);
});

test('how it stands can be told', () => {
  const endpoint = createEndpoint(limits);
  expect(endpoint.state(0)).toBe('sound');
  fail(endpoint, 0);
  expect(endpoint.state(0)).toBe('failing');
  for (let n = 0; n < 2; n += 1) fail(endpoint, 0);
  expect(endpoint.state(0)).toBe('held');
  expect(endpoint.state(endpoint.heldUntil())).toBe('probed');
  endpoint.succeed({});
  endpoint.start({}, 0);
  expect([endpoint.state(limits.slowMs), endpoint.state(limits.slowMs + 1)]).toEqual(['sound', 'slow']);
});

test('an attempt that we gave up says nothing of the endpoint', () => {
  const endpoint = createEndpoint(limits);
  const attempt = {};
  endpoint.start(attempt, 0);
  endpoint.abandon(attempt);
  expect(endpoint.inFlight()).toBe(0);
  expect(endpoint.isSound(0)).toBe(true);
});
