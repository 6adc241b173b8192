import { aDelivery } from '../testing/jest-deliveries.ts';
import { failure, now, testDispatcher } from '../testing/jest-dispatcher.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';

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
