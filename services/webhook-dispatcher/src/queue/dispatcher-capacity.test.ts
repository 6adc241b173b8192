import { aDelivery } from '../testing/jest-deliveries.ts';
import { failure, testDispatcher } from '../testing/jest-dispatcher.ts';
import { CAPACITY } from './leased-deliveries.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';

test('limits concurrent attempts per endpoint', () => {
  const { dispatcher, sentTo } = testDispatcher();
  dispatcher.accept([1, 2, 3, 4, 5].map(() => aDelivery({ webhookId: 'a' })));
  dispatcher.accept([aDelivery({ webhookId: 'b' })]);
  expect(sentTo()).toEqual(['a', 'a', 'b']);
});

test('shares attempt slots between endpoints that have work', () => {
  const { dispatcher, sentTo } = testDispatcher({ capacity: { ...CAPACITY, attempts: 2 } });
  dispatcher.accept(['a', 'a', 'b', 'b'].map((webhookId) => aDelivery({ webhookId })));
  expect(sentTo()).toEqual(['a', 'b']);
});

test('frees the slots of slow attempts for endpoints that wait', () => {
  let atMs = 0;
  const { dispatcher, sentTo } = testDispatcher({ nowMs: () => atMs, capacity: { ...CAPACITY, attempts: 2 } });
  dispatcher.accept(['slow', 'slow', 'slow2'].map((webhookId) => aDelivery({ webhookId })));
  dispatcher.accept([aDelivery({ webhookId: 'healthy' })]);
  expect(sentTo()).toEqual(['slow', 'slow2']);
  atMs = ENDPOINT_LIMITS.slowMs + 1;
  dispatcher.tick();
  expect(sentTo()).toContain('healthy');
});

test('keeps the slot of an ended attempt until its result is durable', async () => {
  let atMs = 0;
  const { dispatcher, end, results, sentTo } = testDispatcher({
    nowMs: () => atMs,
    capacity: { ...CAPACITY, attempts: 1 },
  });
  dispatcher.accept(['a', 'b'].map((webhookId) => aDelivery({ webhookId })));
  await end(0);
  atMs = ENDPOINT_LIMITS.slowMs + 1;
  dispatcher.tick();
  expect(sentTo()).toEqual(['a']);
  dispatcher.release(results.map(({ delivery }) => delivery));
  expect(sentTo()).toEqual(['a', 'b']);
});

test('takes a slot again when a slow attempt ends, until its result is durable', async () => {
  let atMs = 0;
  const { dispatcher, end, sentTo } = testDispatcher({
    nowMs: () => atMs,
    capacity: { ...CAPACITY, attempts: 2 },
  });
  dispatcher.accept(['slow', 'slow2'].map((webhookId) => aDelivery({ webhookId })));
  atMs = ENDPOINT_LIMITS.slowMs;
  dispatcher.tick();
  await end(0);
  await end(1);
  dispatcher.accept([aDelivery({ webhookId: 'other' })]);
  expect(sentTo()).toEqual(['slow', 'slow2']);
});

test('skips an unhealthy endpoint over its half of the slots', async () => {
  const { dispatcher, end, results, sentTo } = testDispatcher({ capacity: { ...CAPACITY, attempts: 4 } });
  const acceptFor = (webhookId: string, count = 1) =>
    dispatcher.accept(Array.from({ length: count }, () => aDelivery({ webhookId })));
  acceptFor('failing');
  await end(0, failure);
  dispatcher.release(results.map(({ delivery }) => delivery));
  acceptFor('a', 2);
  acceptFor('b', 2);
  acceptFor('failing');
  acceptFor('c');
  expect(sentTo().slice(1)).toEqual(['a', 'a', 'b', 'b']);
  await end(1);
  dispatcher.release(results.map(({ delivery }) => delivery));
  expect(sentTo().slice(5)).toEqual(['c']);
});

test('bounds deliveries in memory by number and bytes', () => {
  const { dispatcher } = testDispatcher({ capacity: { deliveries: 3, bytes: 1_000, attempts: 10 } });
  const admits = dispatcher.admission();
  expect([1, 2, 3, 4].map((n) => admits(`w${n}`, 10))).toEqual([true, true, true, false]);
  expect([1, 2].map((n) => dispatcher.admission()(`w${n}`, 10))).toEqual([true, true]);
  const heavy = dispatcher.admission();
  expect([heavy('a', 999), heavy('b', 999), heavy('c', 1)]).toEqual([true, true, false]);
});

test('requeues the buffer of a fast endpoint that becomes slow while memory is scarce', async () => {
  let atMs = 0;
  const { dispatcher, sent, requeued, results, end } = testDispatcher({
    nowMs: () => atMs,
    capacity: { deliveries: 20, bytes: 1_000_000, attempts: 10 },
    onRequeue: () => {
      const deliveries = dispatcher.takeRequeued();
      requeued.push(...deliveries);
      dispatcher.release(deliveries);
    },
  });
  dispatcher.accept([aDelivery({ webhookId: 'fast' })]);
  await end(0);
  dispatcher.release(results.map(({ delivery }) => delivery));
  dispatcher.accept(Array.from({ length: 20 }, () => aDelivery({ webhookId: 'fast' })));
  expect(dispatcher.demandOf('other')).toBe(0);
  dispatcher.tick();
  expect(requeued).toEqual([]);
  atMs = ENDPOINT_LIMITS.slowMs + 1;
  dispatcher.tick();
  expect(dispatcher.demandOf('other')).toBeGreaterThan(0);
  expect(dispatcher.counts()).toEqual({ leased: sent.length - 1, inFlight: sent.length - 1 });
  expect(requeued).toHaveLength(20 - (sent.length - 1));
});

test('admits no later event of a webhook after it refused one', () => {
  const { dispatcher } = testDispatcher({ capacity: { deliveries: 100, bytes: 100, attempts: 10 } });
  const admits = dispatcher.admission();
  expect(admits('a', 100)).toBe(true);
  expect(admits('b', 1)).toBe(false);
  expect(admits('b', 0)).toBe(false);
});

test('frees memory when a result is recorded', async () => {
  const { dispatcher, end, results } = testDispatcher();
  dispatcher.accept([aDelivery()]);
  expect(dispatcher.counts()).toEqual({ leased: 1, inFlight: 1 });
  await end(0);
  expect(dispatcher.counts()).toEqual({ leased: 1, inFlight: 0 });
  dispatcher.release(results.map(({ delivery }) => delivery));
  expect(dispatcher.counts()).toEqual({ leased: 0, inFlight: 0 });
});
