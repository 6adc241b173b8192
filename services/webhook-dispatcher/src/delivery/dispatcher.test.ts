import { log } from '../testing/jest-log.ts';
import { aDelivery } from '../testing/jest-deliveries.ts';
import type { Webhook } from '../webhooks/directory.ts';
import type { Attempt, Delivery, Result } from './delivery.ts';
import { CAPACITY, createDispatcher, type DispatcherOptions } from './dispatcher.ts';
import { ENDPOINT_LIMITS } from './endpoint.ts';
import type { Request } from './send.ts';

const now = new Date('2026-01-31T12:00:00.000Z');
const settled = () => new Promise((done) => setImmediate(done));

const set = (given: Partial<DispatcherOptions> = {}) => {
  const sent: { request: Request; end: (attempt: Attempt | null) => void }[] = [];
  const results: Result[] = [];
  const returned: Delivery[] = [];
  const webhook = (id: string): Webhook => ({
    id,
    merchantId: 'mer_1',
    url: new URL('https://merchant.example'),
    events: [],
    isEnabled: !id.includes('disabled'),
    keys: () => [Buffer.alloc(32)],
  });
  const dispatcher = createDispatcher({
    sender: {
      post: (request) => new Promise((end) => sent.push({ request, end })),
      abort: () => sent.forEach(({ end }) => end(null)),
    },
    webhooks: { get: (id) => (id.includes('deleted') ? null : id.includes('unknown') ? undefined : webhook(id)) },
    schedule: [5],
    limits: { ...ENDPOINT_LIMITS, failuresToHold: 2 },
    capacity: CAPACITY,
    mayAttempt: () => true,
    onResult: (result) => results.push(result),
    onReturned: () => void returned.push(...dispatcher.takeReturned()),
    now: () => now,
    random: () => 0.5,
    log,
    ...given,
  });
  const end = async (index: number, outcome: Partial<Attempt> | null = { outcome: 'delivered' }) => {
    sent[index]!.end(outcome && { outcome: 'refused', startedAt: now, durationMs: 1, ...outcome });
    await settled();
  };
  return { dispatcher, sent, results, returned, end, sentTo: () => sent.map(({ request }) => request.webhookId) };
};

const failure: Partial<Attempt> = { outcome: 'refused', statusCode: 500 };

test('an endpoint gets few attempts at once, and the others theirs besides', () => {
  const { dispatcher, sentTo } = set();
  dispatcher.accept([1, 2, 3, 4, 5].map(() => aDelivery({ webhookId: 'a' })));
  dispatcher.accept([aDelivery({ webhookId: 'b' })]);
  expect(sentTo()).toEqual(['a', 'a', 'b']);
});

test('connections are shared by the endpoints that have work', () => {
  const { dispatcher, sentTo } = set({ capacity: { ...CAPACITY, attempts: 2 } });
  dispatcher.accept(['a', 'a', 'b', 'b'].map((webhookId) => aDelivery({ webhookId })));
  expect(sentTo()).toEqual(['a', 'b']);
});

test('an endpoint whose attempts become slow gives way to those that wait', () => {
  let at = now;
  const { dispatcher, sentTo } = set({ now: () => at, capacity: { ...CAPACITY, attempts: 2 } });
  dispatcher.accept(['slow', 'slow', 'slow2'].map((webhookId) => aDelivery({ webhookId })));
  dispatcher.accept([aDelivery({ webhookId: 'sound' })]);
  expect(sentTo()).toEqual(['slow', 'slow2']);
  at = new Date(now.getTime() + ENDPOINT_LIMITS.slowMs + 1);
  dispatcher.tick();
  expect(sentTo()).toContain('sound');
});

test('an attempt that has ended keeps its slot until its result is durable, however long that takes', async () => {
  let at = now;
  const { dispatcher, end, results, sentTo } = set({ now: () => at, capacity: { ...CAPACITY, attempts: 1 } });
  dispatcher.accept(['a', 'b'].map((webhookId) => aDelivery({ webhookId })));
  await end(0);
  at = new Date(now.getTime() + ENDPOINT_LIMITS.slowMs + 1);
  dispatcher.tick();
  expect(sentTo()).toEqual(['a']);
  dispatcher.letGo(results.map(({ delivery }) => delivery));
  expect(sentTo()).toEqual(['a', 'b']);
});

test('a slot that an unsound endpoint may not have goes to the next one', async () => {
  const { dispatcher, end, results, sentTo } = set({ capacity: { ...CAPACITY, attempts: 4 } });
  const accept = (webhookId: string, count = 1) =>
    dispatcher.accept(Array.from({ length: count }, () => aDelivery({ webhookId })));
  accept('unsound');
  await end(0, failure);
  dispatcher.letGo(results.map(({ delivery }) => delivery));
  accept('a', 2);
  accept('b', 2);
  accept('unsound');
  accept('c');
  expect(sentTo().slice(1)).toEqual(['a', 'a', 'b', 'b']);
  await end(1);
  dispatcher.letGo(results.map(({ delivery }) => delivery));
  expect(sentTo().slice(5)).toEqual(['c']);
});

test('the next of a lane begins when the attempt before it has ended, though it failed', async () => {
  const { dispatcher, sent, end, results } = set();
  const lane = [1, 2].map(() => aDelivery({ orderId: 'ord_a' }));
  dispatcher.accept(lane);
  expect(sent).toHaveLength(1);
  await end(0, failure);
  expect(sent).toHaveLength(2);
  expect(results).toMatchObject([{ delivery: lane[0], status: 'pending', nextAt: new Date(now.getTime() + 5_000) }]);
});

test('a repeated attempt does not wait for its lane', () => {
  const { dispatcher, sent } = set();
  dispatcher.accept([aDelivery({ orderId: 'ord_a' }), aDelivery({ orderId: 'ord_a', attempts: 1 })]);
  expect(sent).toHaveLength(2);
});

test('an endpoint that keeps failing is left alone: what waits for it is given back', async () => {
  const { dispatcher, returned, end, results } = set();
  const deliveries = [1, 2, 3, 4, 5].map(() => aDelivery());
  dispatcher.accept(deliveries);
  await end(0, failure);
  await end(1, failure);
  expect(results).toHaveLength(2);
  expect(returned.map(({ id }) => id)).toEqual(deliveries.slice(2).map(({ id }) => id));
  expect(dispatcher.appetite('whk_1')).toBe(0);
});

test('what several endpoints leave is given back in one go, when it may be', async () => {
  let asked = 0;
  const { dispatcher, end, sentTo } = set({ onReturned: () => void (asked += 1) });
  const deliveries = ['a', 'b', 'a', 'b', 'a', 'b'].map((webhookId) => aDelivery({ webhookId }));
  dispatcher.accept(deliveries);
  expect(sentTo()).toEqual(['a', 'a', 'b', 'b']);
  for (const index of [0, 1, 2, 3]) await end(index, failure);
  expect([asked, dispatcher.counts().held]).toEqual([2, 6]);
  expect(dispatcher.takeReturned().map(({ id }) => id)).toEqual(deliveries.slice(4).map(({ id }) => id));
  expect(dispatcher.takeReturned()).toEqual([]);
});

test('nothing is sent to a deleted webhook', () => {
  const { dispatcher, sent, results } = set();
  dispatcher.accept([aDelivery({ webhookId: 'deleted' })]);
  expect(sent).toEqual([]);
  expect(results).toMatchObject([{ status: 'failed', attempt: null }]);
});

test('nothing is sent to a disabled webhook but tests: the rest is given back, for it may be enabled by now', () => {
  const { dispatcher, sent, results, returned } = set();
  const [delivery, sample] = [false, true].map((isTest) => aDelivery({ webhookId: 'disabled', isTest }));
  dispatcher.accept([delivery!, sample!]);
  dispatcher.tick();
  expect(sent).toHaveLength(1);
  expect(returned).toEqual([delivery]);
  expect(results).toEqual([]);
});

test('a test goes to a disabled webhook too', () => {
  const { dispatcher, sent } = set();
  dispatcher.accept([aDelivery({ webhookId: 'disabled', isTest: true })]);
  expect(sent).toHaveLength(1);
});

test('what is no longer kept is not sent, and takes its room until that is recorded', () => {
  const { dispatcher, sent, results } = set();
  const delivery = aDelivery();
  dispatcher.accept([{ ...delivery, event: { ...delivery.event, body: Buffer.alloc(0) } }]);
  expect(sent).toEqual([]);
  expect(results).toMatchObject([{ status: 'failed', attempt: null }]);
  expect(dispatcher.counts().held).toBe(1);
});

test('what cannot be told of a webhook that was not read is given back, not dropped', () => {
  const { dispatcher, returned, results } = set();
  const delivery = aDelivery({ webhookId: 'unknown' });
  dispatcher.accept([delivery]);
  expect(returned).toEqual([delivery]);
  expect(results).toEqual([]);
});

test('410 ends a delivery at once', async () => {
  const { dispatcher, end, results } = set();
  dispatcher.accept([aDelivery()]);
  await end(0, { outcome: 'refused', statusCode: 410 });
  expect(results).toMatchObject([{ status: 'failed', nextAt: null }]);
});

test('without a lease nothing is begun', () => {
  const { dispatcher, sent } = set({ mayAttempt: () => false });
  dispatcher.accept([aDelivery()]);
  expect(sent).toEqual([]);
});

test('what is held is bounded, in number and in bytes', () => {
  const { dispatcher } = set({ capacity: { deliveries: 3, bytes: 1_000, attempts: 10 } });
  const admits = dispatcher.admission();
  expect([1, 2, 3, 4].map((n) => admits(`w${n}`, 10))).toEqual([true, true, true, false]);
  expect([1, 2].map((n) => dispatcher.admission()(`w${n}`, 10))).toEqual([true, true]);
  const heavy = dispatcher.admission();
  expect([heavy('a', 999), heavy('b', 999), heavy('c', 1)]).toEqual([true, true, false]);
});

test('an endpoint that was quick and hangs now leaves the room that it had to the others', async () => {
  let at = now;
  const { dispatcher, sent, returned, results, end } = set({
    now: () => at,
    capacity: { deliveries: 20, bytes: 1_000_000, attempts: 10 },
    onReturned: () => {
      const deliveries = dispatcher.takeReturned();
      returned.push(...deliveries);
      dispatcher.letGo(deliveries);
    },
  });
  dispatcher.accept([aDelivery({ webhookId: 'quick' })]);
  await end(0);
  dispatcher.letGo(results.map(({ delivery }) => delivery));
  dispatcher.accept(Array.from({ length: 20 }, () => aDelivery({ webhookId: 'quick' })));
  expect(dispatcher.appetite('other')).toBe(0);
  dispatcher.tick();
  expect(returned).toEqual([]);
  at = new Date(now.getTime() + ENDPOINT_LIMITS.slowMs + 1);
  dispatcher.tick();
  expect(dispatcher.appetite('other')).toBeGreaterThan(0);
  expect(dispatcher.counts()).toEqual({ held: sent.length - 1, inFlight: sent.length - 1 });
  expect(returned).toHaveLength(20 - (sent.length - 1));
});

test('once there was no room for an event there is none for later ones of the same webhook', () => {
  const { dispatcher } = set({ capacity: { deliveries: 100, bytes: 100, attempts: 10 } });
  const admits = dispatcher.admission();
  expect(admits('a', 100)).toBe(true);
  expect(admits('b', 1)).toBe(false);
  expect(admits('b', 0)).toBe(false);
});

test('recorded and returned deliveries make room', async () => {
  const { dispatcher, end, results } = set();
  dispatcher.accept([aDelivery()]);
  expect(dispatcher.counts()).toEqual({ held: 1, inFlight: 1 });
  await end(0);
  expect(dispatcher.counts()).toEqual({ held: 1, inFlight: 0 });
  dispatcher.letGo(results.map(({ delivery }) => delivery));
  expect(dispatcher.counts()).toEqual({ held: 0, inFlight: 0 });
});

test('what waits of a deleted order is dropped', () => {
  const { dispatcher, sent } = set();
  dispatcher.accept([1, 2].map(() => aDelivery({ orderId: 'ord_a' })));
  dispatcher.forget(new Set(['ord_a']));
  expect(sent).toHaveLength(1);
  expect(dispatcher.counts().held).toBe(1);
});
