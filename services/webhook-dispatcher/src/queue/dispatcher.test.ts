import { aDelivery } from '../testing/jest-deliveries.ts';
import { failure, now, testDispatcher } from '../testing/jest-dispatcher.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';
import { CAPACITY } from './leased-deliveries.ts';

test('starts the next first attempt of an ordering key after the previous one failed', async () => {
  const { dispatcher, sent, end, results } = testDispatcher();
  const deliveries = [1, 2].map(() => aDelivery({ orderId: 'ord_a' }));
  dispatcher.accept(deliveries);
  expect(sent).toHaveLength(1);
  await end(0, failure);
  expect(sent).toHaveLength(2);
  expect(results).toMatchObject([
    { delivery: deliveries[0], status: 'pending', nextAt: new Date(now.getTime() + 5_000) },
  ]);
});

test('does not order retries', () => {
  const { dispatcher, sent } = testDispatcher();
  dispatcher.accept([aDelivery({ orderId: 'ord_a' }), aDelivery({ orderId: 'ord_a', attempts: 1 })]);
  expect(sent).toHaveLength(2);
});

test('requeues waiting deliveries when the circuit breaker opens', async () => {
  const { dispatcher, requeued, end, results } = testDispatcher();
  const deliveries = [1, 2, 3, 4, 5].map(() => aDelivery());
  dispatcher.accept(deliveries);
  await end(0, failure);
  await end(1, failure);
  expect(results).toHaveLength(2);
  expect(requeued.map(({ id }) => id)).toEqual(deliveries.slice(2).map(({ id }) => id));
  expect(dispatcher.demandOf('whk_1')).toBe(0);
});

test.each([-1, 1])('tests an endpoint again in time although the wall clock moves by %s hours', async (hours) => {
  let [at, atMs] = [now, 0];
  const { dispatcher, sent, end } = testDispatcher({ now: () => at, nowMs: () => atMs });
  dispatcher.accept([aDelivery(), aDelivery()]);
  await end(0, failure);
  await end(1, failure);
  at = new Date(now.getTime() + hours * 3_600_000);
  dispatcher.accept([aDelivery()]);
  expect([dispatcher.isOpen('whk_1'), sent.length]).toEqual([true, 2]);
  atMs = ENDPOINT_LIMITS.openMs;
  dispatcher.tick();
  expect([dispatcher.isOpen('whk_1'), sent.length]).toEqual([false, 3]);
});

test('requeues deliveries of several endpoints together', async () => {
  let requests = 0;
  const { dispatcher, end, sentTo } = testDispatcher({ onRequeue: () => void (requests += 1) });
  const deliveries = ['a', 'b', 'a', 'b', 'a', 'b'].map((webhookId) => aDelivery({ webhookId }));
  dispatcher.accept(deliveries);
  expect(sentTo()).toEqual(['a', 'a', 'b', 'b']);
  for (const index of [0, 1, 2, 3]) await end(index, failure);
  expect([requests, dispatcher.counts().leased]).toEqual([2, 6]);
  expect(dispatcher.takeRequeued().map(({ id }) => id)).toEqual(deliveries.slice(4).map(({ id }) => id));
  expect(dispatcher.takeRequeued()).toEqual([]);
});

test('fails deliveries to a deleted webhook without an attempt', () => {
  const { dispatcher, sent, results } = testDispatcher();
  dispatcher.accept([aDelivery({ webhookId: 'deleted' })]);
  expect(sent).toEqual([]);
  expect(results).toMatchObject([{ status: 'failed', attempt: null }]);
});

test('requeues all but test deliveries of a disabled webhook, which may be enabled by now', () => {
  const { dispatcher, sent, results, requeued } = testDispatcher();
  const [delivery, sample] = [false, true].map((isTest) => aDelivery({ webhookId: 'disabled', isTest }));
  dispatcher.accept([delivery!, sample!]);
  dispatcher.tick();
  expect(sent).toHaveLength(1);
  expect(requeued).toEqual([delivery]);
  expect(results).toEqual([]);
});

test('sends test deliveries to a disabled webhook', () => {
  const { dispatcher, sent } = testDispatcher();
  dispatcher.accept([aDelivery({ webhookId: 'disabled', isTest: true })]);
  expect(sent).toHaveLength(1);
});

test('fails a delivery without a body, and keeps it in memory until that is recorded', () => {
  const { dispatcher, sent, results } = testDispatcher();
  const delivery = aDelivery();
  dispatcher.accept([{ ...delivery, event: { ...delivery.event, body: Buffer.alloc(0) } }]);
  expect(sent).toEqual([]);
  expect(results).toMatchObject([{ status: 'failed', attempt: null }]);
  expect(dispatcher.counts().leased).toBe(1);
});

test('requeues deliveries to a webhook that is not cached', () => {
  const { dispatcher, requeued, results } = testDispatcher();
  const delivery = aDelivery({ webhookId: 'unknown' });
  dispatcher.accept([delivery]);
  expect(requeued).toEqual([delivery]);
  expect(results).toEqual([]);
});

test('does not retry after 410 Gone', async () => {
  const { dispatcher, end, results } = testDispatcher();
  dispatcher.accept([aDelivery()]);
  await end(0, { outcome: 'refused', statusCode: 410 });
  expect(results).toMatchObject([{ status: 'failed', nextAt: null }]);
});

test('starts no attempt without a valid lease', () => {
  const { dispatcher, sent } = testDispatcher({ mayAttempt: () => false });
  dispatcher.accept([aDelivery()]);
  expect(sent).toEqual([]);
});

test('drops the waiting deliveries of a deleted order', () => {
  const { dispatcher, sent } = testDispatcher();
  dispatcher.accept([1, 2].map(() => aDelivery({ orderId: 'ord_a' })));
  dispatcher.dropOrders(new Set(['ord_a']));
  expect(sent).toHaveLength(1);
  expect(dispatcher.counts().leased).toBe(1);
});

test('drops what waits when its leases expire, and ends what is in flight', async () => {
  const { dispatcher, sent, end, results } = testDispatcher();
  dispatcher.accept([1, 2, 3].map(() => aDelivery()));
  dispatcher.dropWaiting();
  expect(dispatcher.counts()).toEqual({ leased: 2, inFlight: 2 });
  await end(0);
  expect([sent.length, results.length]).toEqual([2, 1]);
});

test('a stop requeues what waits at once, and what is in flight when its time is over', async () => {
  const { dispatcher, requeued, results, sent } = testDispatcher();
  const deliveries = [1, 2, 3].map(() => aDelivery());
  dispatcher.accept(deliveries);
  const stopped = dispatcher.stop(0);
  expect(requeued).toEqual([deliveries[2]]);
  await stopped;
  expect(requeued).toEqual([deliveries[2], deliveries[0], deliveries[1]]);
  expect([results, dispatcher.counts().inFlight]).toEqual([[], 0]);
  dispatcher.accept([aDelivery({ webhookId: 'other' })]);
  expect([sent.length, dispatcher.demandOf('other'), dispatcher.admission()('other', 1)]).toEqual([2, 0, false]);
});

test('a stop lets attempts end that are in time', async () => {
  const { dispatcher, end, results, requeued } = testDispatcher();
  dispatcher.accept([aDelivery()]);
  const stopped = dispatcher.stop(60_000);
  await end(0);
  await stopped;
  expect([results.length, requeued]).toEqual([1, []]);
});

test('an aborted attempt says nothing about its endpoint, and frees its slot', async () => {
  const { dispatcher, end, requeued, sentTo } = testDispatcher({ capacity: { ...CAPACITY, attempts: 1 } });
  dispatcher.accept([aDelivery({ webhookId: 'a' }), aDelivery({ webhookId: 'b' })]);
  await end(0, null);
  expect(requeued.map(({ webhookId }) => webhookId)).toEqual(['a']);
  expect(sentTo()).toEqual(['a', 'b']);
  expect(dispatcher.endpoints()[0]).toEqual({ webhookId: 'a', state: 'healthy', openForMs: 0 });
});

test('an attempt that cannot be sent is blocked, and retried', async () => {
  const sender = { post: () => Promise.reject(new Error('a fault')), abort: () => {} };
  const { dispatcher, results } = testDispatcher({ sender });
  dispatcher.accept([aDelivery()]);
  await new Promise((done) => setImmediate(done));
  expect(results).toMatchObject([
    { status: 'pending', attempt: { outcome: 'blocked', durationMs: 0, startedAt: now } },
  ]);
});

test('a webhook whose secret cannot be decrypted gets no attempt, and opens its circuit breaker', () => {
  const keys = () => {
    throw new Error('no such key');
  };
  const webhook = {
    id: 'whk_1',
    merchantId: 'mer_1',
    url: new URL('https://a.example'),
    events: [],
    filter: null,
    isEnabled: true,
  };
  const { dispatcher, sent, results, requeued } = testDispatcher({ webhooks: { get: () => ({ ...webhook, keys }) } });
  for (const isOpen of [false, true]) {
    dispatcher.accept([aDelivery()]);
    expect(dispatcher.isOpen('whk_1')).toBe(isOpen);
  }
  expect([sent, results, requeued.length]).toEqual([[], [], 2]);
});

test('reports what it has, and the state of each endpoint', async () => {
  let atMs = 0;
  const capacity = { deliveries: 10, bytes: 1_000, attempts: 10 };
  const { dispatcher, end, results } = testDispatcher({ capacity, nowMs: () => atMs });
  const deliveries = ['a', 'a', 'b'].map((webhookId) => aDelivery({ webhookId }));
  dispatcher.accept(deliveries);
  expect(dispatcher.positions()).toEqual(deliveries.map(({ position }) => position));
  expect(dispatcher.webhookIds()).toEqual(['a', 'b']);
  expect([dispatcher.freeDeliveries(), dispatcher.freeBytes()]).toEqual([
    7,
    1_000 - 3 * deliveries[0]!.event.body.length,
  ]);
  for (const index of [0, 1]) await end(index, failure);
  dispatcher.release(results.map(({ delivery }) => delivery));
  expect(dispatcher.webhookIds()).toEqual(['b']);
  atMs = 100;
  expect(dispatcher.endpoints()).toEqual([
    { webhookId: 'a', state: 'open', openForMs: ENDPOINT_LIMITS.openMs - 100 },
    { webhookId: 'b', state: 'healthy', openForMs: 0 },
  ]);
  expect(dispatcher.isOpen('unknown')).toBe(false);
});

test('requeues again at each tick until the deliveries are taken', () => {
  let requests = 0;
  const { dispatcher } = testDispatcher({ onRequeue: () => void (requests += 1) });
  dispatcher.tick();
  expect(requests).toBe(0);
  dispatcher.accept([aDelivery({ webhookId: 'unknown' })]);
  dispatcher.tick();
  expect(requests).toBeGreaterThan(1);
  expect(dispatcher.takeRequeued()).toHaveLength(1);
  const before = requests;
  dispatcher.release([]);
  expect(requests).toBe(before);
});

test('keeps a delivery that is leased again while its attempt runs, and requeues the second lease', () => {
  const { dispatcher, sent, requeued } = testDispatcher();
  const delivery = aDelivery();
  dispatcher.accept([delivery]);
  const again = { ...delivery };
  dispatcher.accept([again]);
  expect(sent).toHaveLength(1);
  expect(requeued[0]).toBe(again);
});
